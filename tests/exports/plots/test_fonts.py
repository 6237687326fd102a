"""Figures in any script: drawn where a font has the letters, else said with what to install."""

import logging

import pytest

from exports.figures import FORMATS, Figure, as_bytes, captions
from exports.plots import theme
from exports.plots.theme import advice, boxed, families, themed


def with_names(*names: str) -> Figure:
    from matplotlib.figure import Figure as Canvas

    with themed():
        canvas = Canvas(figsize=(3.3, 1.0))
        for at, name in enumerate(names):
            canvas.text(0.05, 0.2 * at, name)
    return Figure("names", "What it shows.", (), canvas)


@pytest.fixture
def only_dejavu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without any other font than matplotlib's own."""
    monkeypatch.setattr(theme, "families", lambda: ("DejaVu Sans",))
    theme._is_boxed.cache_clear()
    yield
    theme._is_boxed.cache_clear()


@pytest.mark.parametrize(
    ("name", "scripts", "package"),
    [
        ("证据质量", ["Chinese, Japanese or Korean"], "fonts-noto-cjk"),
        ("根拠の質 and 근거", ["Chinese, Japanese or Korean"], "fonts-noto-cjk"),
        ("साक्ष्य", ["Devanagari"], "fonts-noto-core"),
        ("หลักฐาน", ["Thai"], "fonts-noto-core"),
    ],
)
def test_letters_that_no_font_has_are_named_with_the_package_that_has_them(
    only_dejavu: None, name: str, scripts: list[str], package: str
) -> None:
    figure = with_names("GPT-5", name)
    assert boxed([name]) == scripts
    assert f"letters of {scripts[0]}" in figure.caution
    assert package in figure.caution
    assert figure.caution in captions([figure])


@pytest.mark.parametrize("name", ["Evidence", "Beweislage ÄÖÜß", "κ ± 0.1", "جودة الأدلة", "איכות", "Качество", ""])
def test_what_matplotlibs_own_font_has_needs_no_other(only_dejavu: None, name: str) -> None:
    assert boxed([name]) == []
    assert advice([name]) == ""


@pytest.mark.parametrize("form", [*FORMATS])
def test_a_figure_in_other_scripts_is_the_same_bytes_each_time(form: str) -> None:
    first, again = (as_bytes(with_names("证据质量", "جودة الأدلة"), form) for _ in range(2))
    assert first == again


def test_a_font_installed_since_matplotlib_listed_its_fonts_is_found() -> None:
    """Whatever this machine has is used; where it has nothing for a script, that is said."""
    assert families()[0] == "DejaVu Sans"
    has_chinese = any("CJK" in name or "YaHei" in name or "PingFang" in name for name in families())
    assert (advice(["证据"]) == "") == has_chinese


def test_fonts_that_stand_in_for_letters_are_not_talked_about(caplog: pytest.LogCaptureFixture) -> None:
    fonts = logging.getLogger("matplotlib.font_manager")
    with caplog.at_level(logging.WARNING):
        with themed():
            fonts.warning("findfont: Failed to find font weight bold for Noto Sans CJK SC, now using 400.")
            fonts.warning("findfont: Font family not found")
        fonts.warning("findFont: Failed to find font weight bold for any other program")
    assert [record.getMessage()[:15] for record in caplog.records] == ["findfont: Font ", "findFont: Faile"]
