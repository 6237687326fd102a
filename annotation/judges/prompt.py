"""An item and its criteria become messages: public names of the rooms behind."""

from annotation.judges.asking.prompt import (
    PAIR,
    TEMPLATES,
    WIRE,
    Asked,
    Material,
    Message,
    Probe,
    Prompt,
    ask_again,
    build_prompt,
    reply_schema,
    scale_in_words,
    shipped_template,
    template_of,
)

__all__ = [
    "PAIR",
    "TEMPLATES",
    "WIRE",
    "Asked",
    "Material",
    "Message",
    "Probe",
    "Prompt",
    "ask_again",
    "build_prompt",
    "reply_schema",
    "scale_in_words",
    "shipped_template",
    "template_of",
]
