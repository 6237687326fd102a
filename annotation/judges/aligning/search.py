"""The optimiser: GEPA (Agrawal et al. 2025), reflective prompt evolution, by its authors' own package.

`gepa` is the part of dspy that does this, without dspy's seventy other packages; it is the extra `calipers[align]`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

from annotation.errors import AnnotationError

PART = "instructions"
BATCH = 4  # items that one variant is written from
ROUNDS_A_VARIANT = 3  # rounds that may end without a new variant: a batch that is right already, a refused text


@dataclass(frozen=True)
class Scored:
    """What instructions came to on one item: a score in [0, 1], and what the model that rewrites is told of it."""

    item: int
    score: float
    record: Mapping[str, str]


Score = Callable[[str, Sequence[int]], list[Scored]]  # instructions and items to scores, in the items' order
Rewrite = Callable[[str], str | None]  # a request to a reply; None where it cannot be paid


class Search(Protocol):
    """Tries instructions until `over`; what it tried is known to whoever scores them."""

    def __call__(
        self, written_from: Sequence[int], chosen_on: Sequence[int], score: Score, rewrite: Rewrite, request: str,
        over: Callable[[], bool], *, variants: int, seed: int,
    ) -> None: ...  # fmt: skip


def refuse_without_gepa() -> None:
    """Raises AnnotationError `no_extra` where the optimiser is not installed."""
    if find_spec("gepa") is None:
        raise AnnotationError(
            "no_extra", "aligning a judge needs another part of calipers; pip install 'calipers[align]'"
        )


def gepa_search(
    written_from: Sequence[int], chosen_on: Sequence[int], score: Score, rewrite: Rewrite, request: str,
    over: Callable[[], bool], *, variants: int, seed: int,
) -> None:  # fmt: skip
    """Instructions are rewritten from a few items of `written_from`, and kept where they do better there.

    Parents are drawn from those that are best on some item of `chosen_on`. Nothing is written to disk.
    """
    refuse_without_gepa()
    from gepa.api import optimize

    def asked(prompt: str | list[dict[str, Any]]) -> str:
        text = rewrite(prompt if isinstance(prompt, str) else str(prompt))
        if text is None:
            raise AnnotationError("budget", "the budget has no room for another rewriting")
        return text

    optimize(
        {PART: ""}, list(written_from), list(chosen_on), adapter=_adapter(score), reflection_lm=asked,
        reflection_prompt_template=request, reflection_minibatch_size=min(BATCH, len(written_from)),
        stop_callbacks=lambda state: over() or state.i >= ROUNDS_A_VARIANT * variants,
        logger=_Quiet(), seed=seed,  # and no cache of its own: that takes an item of one half for one of the other
    )  # fmt: skip


def _adapter(score: Score) -> Any:
    from gepa.core.adapter import EvaluationBatch

    class Adapter:
        propose_new_texts = None

        def evaluate(self, batch: list[int], candidate: dict[str, str], capture_traces: bool = False) -> Any:
            found = score(candidate[PART], batch)
            return EvaluationBatch(
                outputs=[one.item for one in found], scores=[one.score for one in found],
                trajectories=[one.record for one in found] if capture_traces else None,
            )  # fmt: skip

        def make_reflective_dataset(
            self, candidate: dict[str, str], eval_batch: Any, components_to_update: list[str]
        ) -> dict[str, list[Mapping[str, str]]]:
            return {part: list(eval_batch.trajectories) for part in components_to_update}

    return Adapter()


class _Quiet:
    """The optimiser's own words go nowhere: they hold the texts of the study."""

    def log(self, message: str) -> None:
        """Leave it out."""
