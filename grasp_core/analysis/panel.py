"""Protocols of panels, which the engine computes, and of the work that is sent to workers."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol, runtime_checkable

from grasp_core.model.annotations import BoolArray, FloatArray, Raters
from grasp_core.model.groups import Grouping, form_groups
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import Result, RunResult, Undecided
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.testing.families import Tests
from grasp_core.permutation.testing.p_values import Null
from grasp_core.permutation.testing.tally import Tally


class BlockWork(Protocol):
    """Computes V values of U units: a data class that :func:`pack` sends to workers."""

    def shuffled(self, seed: int, start: int, stop: int) -> FloatArray:
        """Return permutations `start` to `stop` - 1, shape (stop - start, U, V): the same in any blocks."""
        ...


class Panel(Protocol):
    """Tests that share their permutations.

    `tests`: C columns, and the units, such as groups, that they need.
    `observed`, shape (C,): NaN where not estimable.
    """

    tests: Tests
    observed: FloatArray

    @property
    def per_unit(self) -> int:
        """V, the number of values that workers compute for a unit in a permutation."""
        ...

    def work(self, active: BoolArray) -> BlockWork:
        """Return the work for the units that are active, shape (U,)."""
        ...

    def columns(self, values: FloatArray) -> FloatArray:
        """Turn values (b, units, V), NaN where a unit is not active, into columns, shape (b, C)."""
        ...


@runtime_checkable
class VerdictPanel(Protocol):
    """A panel whose units have verdicts, which need the values of several columns in each permutation."""

    def verdict_values(self, shuffled: FloatArray) -> FloatArray:
        """Return the values that verdicts need from columns (B, C), row by row: shape (B + 1, ...)."""
        ...


class RunPanel(Panel, Protocol):
    """A panel whose outcomes make a run's result, to which it adds its `notes`."""

    notes: tuple[Remark, ...]

    def result(self, null: Null, *, permutations_done: int | None, **of_run: Any) -> Result:
        """Return the result of a run; with `permutations_done` it is provisional: p and q get intervals."""
        ...

    def undecided(self, c: int, *, corrected: bool) -> Undecided:
        """Describe column c's mark, nominal or `corrected`, if a run stopped before it was settled."""
        ...


class LaterPanel(Panel, Protocol):
    """A panel of a later stage, such as "pairs", that adds to the result of the run's groups."""

    name: str

    @property
    def labels(self) -> int:
        """Number of annotations that a permutation has to count."""
        ...

    def into(self, result: RunResult, tally: Tally, *, so_far: bool) -> RunResult:
        """Add this panel's results; `so_far`: permutations continue, and p and q get intervals."""
        ...

    def undecided(self, c: int, *, corrected: bool) -> Undecided:
        """See :class:`RunPanel`."""
        ...


Each = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""Applies a function to each argument and gives the results in order, as :func:`map` and pools do."""


class Later(NamedTuple):
    """A later stage: its panels, each made when the one before is done, and remarks on what it leaves out."""

    panels: Iterator[LaterPanel]
    left_out: tuple[Remark, ...]


def groups_asked(raters: Raters, analysis: AnalysisSpec) -> Grouping:
    """Form the groups of an analysis's axes that have at least its smallest number of raters."""
    return form_groups(raters, analysis.axes, min_raters=analysis.min_raters)
