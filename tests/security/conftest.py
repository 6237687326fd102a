"""The app's routes in this process, a real server, and a real Chromium, as the other folders of tests have them."""

from tests.app.conftest import engine_here, site  # noqa: F401
from tests.browser.conftest import browser, context, study_id, warm  # noqa: F401
from tests.browser.conftest import own_server as server  # noqa: F401  # attackers leave marks that others would meet
