"""The colours and faces of every screen but the annotator's, by scheme: Streamlit's own parts and ours take the same.

app/component/annotate.css holds them for the annotator's page, which is also a file of its own, as a packet.
"""

LIGHT = {
    "paper": "#fcfbf8", "surface": "#f3f1ec", "ink": "#1c1f23", "ink-soft": "#5a5f66", "line": "#ddd9d0",
    "edge": "#878379", "accent": "#14606e", "accent-wash": "#e2eff1", "on-accent": "#fcfbf8", "amber": "#8a5a00",
    "amber-wash": "#f4e7c8", "red": "#a3261b", "red-wash": "#f7e6e3", "green": "#2c6a45",
}  # fmt: skip
DARK = {
    "paper": "#15171a", "surface": "#1d2024", "ink": "#e8e6e1", "ink-soft": "#a4a9b0", "line": "#30343a",
    "edge": "#767c84", "accent": "#6cc3d1", "accent-wash": "#1c343a", "on-accent": "#15171a", "amber": "#e0b050",
    "amber-wash": "#3a3018", "red": "#f08a7e", "red-wash": "#3d201d", "green": "#7cc79a",
}  # fmt: skip
SANS = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
SERIF = "Charter, 'Bitstream Charter', 'Sitka Text', Cambria, Georgia, serif"
MONO = "ui-monospace, 'SF Mono', Consolas, 'DejaVu Sans Mono', monospace"
OF_STREAMLIT = {
    "primaryColor": "accent", "backgroundColor": "paper", "secondaryBackgroundColor": "surface", "textColor": "ink",
    "borderColor": "line", "linkColor": "accent", "codeTextColor": "ink", "codeBackgroundColor": "surface",
    "redColor": "red", "redTextColor": "red", "redBackgroundColor": "red-wash", "greenColor": "green",
    "greenTextColor": "green", "yellowColor": "amber", "yellowTextColor": "amber",
    "yellowBackgroundColor": "amber-wash", "blueColor": "accent", "blueTextColor": "accent",
    "blueBackgroundColor": "accent-wash",
}  # fmt: skip


def theme_options() -> dict[str, str]:
    """Streamlit's theme, light and dark; without a base it takes the one the browser prefers."""
    faces = {"theme.font": SANS, "theme.codeFont": MONO, "theme.baseRadius": "6px", "theme.buttonRadius": "6px"}
    return faces | {
        f"theme.{scheme}.{option}": tokens[token]
        for scheme, tokens in (("light", LIGHT), ("dark", DARK))
        for option, token in OF_STREAMLIT.items()
    }


def as_css(scheme: str) -> str:
    """The tokens as `--c-NAME`. `scheme`: light, dark, or system, which follows Streamlit's choice for the page."""
    named = {"light": LIGHT, "dark": DARK}.get(scheme)
    values = named or {name: f"light-dark({value}, {DARK[name]})" for name, value in LIGHT.items()}
    listed = " ".join(f"--c-{name}: {value};" for name, value in values.items())
    forced = f'[data-testid="stApp"] {{ color-scheme: {scheme} !important; }}' if named else ""
    root = f"color-scheme: {scheme if named else 'light dark'}; --c-sans: {SANS}; --c-serif: {SERIF}; --c-mono: {MONO};"
    return f":root {{ {root} {listed} }} {forced}"
