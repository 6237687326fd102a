"""Agreement of raters, label by label, and the catalogue `METRICS`: public names of the rooms behind."""

from calibration.agreement.catalogue import *  # noqa: F403 - a face gives every public name
from calibration.agreement.statistic import *  # noqa: F403 - a face gives every public name
from calibration.arithmetic.metrics import *  # noqa: F403 - a face gives every public name

Metric = Statistic  # noqa: F405 - what a Statistic was called in 1.0
