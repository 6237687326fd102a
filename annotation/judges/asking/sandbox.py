"""Templates that are not ours are filled in where they can neither grow nor run without end."""

from collections.abc import Callable
from typing import Any, TypeVar

from jinja2 import TemplateError, TemplateSyntaxError

from annotation.documents.programs import LimitedProcess
from annotation.errors import AnnotationError

MEMORY_MB, PATIENCE_S = 600, 10.0  # a prompt takes milliseconds
FAILED = (TemplateError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
T = TypeVar("T")
_process = LimitedProcess(MEMORY_MB, PATIENCE_S)


def apart(function: Callable[..., T], *given: Any) -> T:
    """What `function` makes of somebody's template, in a process that can neither grow nor run without end.

    Raises AnnotationError `altered` with a sentence where it meets a limit or fails, and TemplateSyntaxError.
    """
    try:
        return _process.compute(function, *given)
    except TemplateSyntaxError:
        raise
    except (TimeoutError, MemoryError) as error:
        most = f"{PATIENCE_S:g} s" if isinstance(error, TimeoutError) else f"{MEMORY_MB} MB"
        why = f"that takes over {most}; take out loops within loops, and what repeats or widens a text"
    except FAILED as error:
        why = str(error) or type(error).__name__
    raise AnnotationError("altered", "the prompt cannot be filled in: {why}", why=why)
