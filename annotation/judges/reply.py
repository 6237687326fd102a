"""A raw reply becomes one answer per criterion: public names of the rooms behind."""

from annotation.judges.replies.reply import (
    DECLINES,
    PARSER_VERSION,
    SENTENCES,
    WHOLE_REPLY,
    better,
    failed_answers,
    needs_asking_again,
    parse_reply,
    problems,
    valid,
)

__all__ = [
    "DECLINES",
    "PARSER_VERSION",
    "SENTENCES",
    "WHOLE_REPLY",
    "better",
    "failed_answers",
    "needs_asking_again",
    "parse_reply",
    "problems",
    "valid",
]
