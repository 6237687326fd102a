"""Tails and quantiles of the normal and of Student's t, as `scipy.stats` gives them and by the same functions.

`scipy.stats` takes most of a second to import and a tenth of a millisecond a call: what every command asks of every
interval is asked of `scipy.special` itself. Rarer distributions and tests are `scipy.stats`' own, imported when asked.
"""

from typing import Any

import numpy as np
import scipy

Number = Any  # a float or an array, and so is what comes back


class Normal:
    """The standard normal."""

    @staticmethod
    def cdf(x: Number) -> Number:
        return scipy.special.ndtr(x)

    @staticmethod
    def sf(x: Number) -> Number:
        return scipy.special.ndtr(-x)

    @staticmethod
    def isf(q: Number) -> Number:
        return -scipy.special.ndtri(q)


class Student:
    """Student's t with `df` degrees of freedom, above 0. Student 1908."""

    @staticmethod
    def cdf(x: Number, df: Number) -> Number:
        return scipy.special.stdtr(df, x)

    @staticmethod
    def sf(x: Number, df: Number) -> Number:
        return scipy.special.stdtr(df, -x)

    @staticmethod
    def ppf(q: Number, df: Number) -> Number:
        # `scipy.special.stdtrit` has the lower end of all, at 0, with the wrong sign
        return scipy.special.stdtrit(df, q) * np.where(np.equal(q, 0), -1.0, 1.0)

    @staticmethod
    def isf(q: Number, df: Number) -> Number:
        return -Student.ppf(q, df)


class NoncentralT:
    """Noncentral t with `df` degrees of freedom, above 0, and a shift: what a test sees where there is an effect."""

    @staticmethod
    def sf(t: Number, df: Number, shift: Number) -> Number:
        below = scipy.special.nctdtr(df, shift, t)
        # nan at some shifts of 40 and more, where that of `scipy.stats` is not
        return scipy.stats.nct.sf(t, df, shift) if np.isnan(below).any() else 1 - below


def sign_test(ups: int, changes: int) -> float:
    """The two-sided exact p of `ups` of `changes`, 1 or more, at a chance of one half: `scipy.stats.binomtest`."""
    return min(1.0, 2 * float(scipy.special.bdtr(min(ups, changes - ups), changes, 0.5)))
