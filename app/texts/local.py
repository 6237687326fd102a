"""Money, days and times as a language writes them, by CLDR (babel has it)."""

from datetime import datetime

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_time, get_datetime_format
from babel.numbers import format_currency


def money(amount: float, currency: str, language: str) -> str:
    """`20.83 US dollars`, `15,00 Euro`; a currency that CLDR does not name by its code."""
    return format_currency(amount, currency, locale=_locale(language), format_type="name")


def day(moment: datetime, language: str) -> str:
    """`November 20, 2026`, in the moment's own zone."""
    return format_date(moment.date(), "long", locale=_locale(language))


def minute(moment: datetime, language: str) -> str:
    """`Nov 20, 2026, 2:05 PM`, in the moment's own zone."""
    locale = _locale(language)
    parts = format_time(moment.timetz(), "short", locale=locale), format_date(moment.date(), "medium", locale=locale)
    return str(get_datetime_format("medium", locale=locale)).replace("'", "").format(*parts)


def _locale(tag: str) -> Locale:
    """English where CLDR does not know the language."""
    try:
        return Locale.parse(tag, sep="-")
    except (UnknownLocaleError, ValueError):
        return Locale("en")
