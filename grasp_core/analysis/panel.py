"""The protocol of panels: what the engine asks of one, and the work that travels to workers."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

from grasp_core.model.annotations import BoolArray, FloatArray, Raters
from grasp_core.model.groups import Grouping, form_groups
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import Result, RunResult, Undecided
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.testing.families import Tests
from grasp_core.permutation.testing.p_values import Null
from grasp_core.permutation.testing.tally import Tally


class Work(Protocol):
    """The work of computing V values of U units: it travels to workers as arrays."""

    def arrays(self) -> dict[str, Any]:
        """Arrays and numbers by name, without objects."""
        ...

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """The work of :meth:`arrays`, whose numbers may have become arrays without axes."""
        ...

    def shuffled(self, seed: int, start: int, stop: int) -> FloatArray:
        """Permutations `start` to `stop` - 1, the same in any blocks: shape (stop - start, U, V)."""
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
        """V, values that workers compute of a unit in a permutation."""
        ...

    def work(self, active: BoolArray) -> Work:
        """The work for the active ones of all units, shape (U,)."""
        ...

    def columns(self, values: FloatArray) -> FloatArray:
        """The columns, shape (b, C), of values (b, units, V), which are NaN where a unit is not active."""
        ...


@runtime_checkable
class Judged(Protocol):
    """A panel whose units have verdicts, for which values of several columns are kept together."""

    def together(self, shuffled: FloatArray) -> FloatArray:
        """What verdicts need of the columns (B, C), row by row: shape (B + 1, ...)."""
        ...


class RunPanel(Panel, Protocol):
    """A panel whose outcomes make a run's result.

    `notes`: what the result is to say beside what holds for every run.
    """

    notes: tuple[Remark, ...]

    def result(self, null: Null, *, permutations_done: int | None, **of_run: Any) -> Result:
        """The result; the other arguments are fields of :class:`~grasp_core.model.result.Result`.

        With `permutations_done` it is provisional, and p and q get intervals.
        """
        ...

    def undecided(self, c: int, *, corrected: bool) -> Undecided:
        """Column c's mark, nominal or `corrected`, where a run stopped before it was settled."""
        ...


class LaterPanel(Panel, Protocol):
    """A panel of a later stage of a run: what it finds is put into the result of the run's groups.

    `name`: what its permutations are of, as people are told, such as "pairs".
    """

    name: str

    @property
    def labels(self) -> int:
        """Annotations that a permutation has to count."""
        ...

    def into(self, result: RunResult, tally: Tally, *, so_far: bool) -> RunResult:
        """The result with what was found; `so_far` says that permutations go on: p and q get intervals."""
        ...

    def undecided(self, c: int, *, corrected: bool) -> Undecided:
        """See :class:`RunPanel`."""
        ...


Each = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""Computes a function of each argument, results in order, as :func:`map` and pools do."""


class Later(NamedTuple):
    """What a later stage has: its panels, each made when the one before is done, and what it leaves out."""

    panels: Iterator[LaterPanel]
    left_out: tuple[Remark, ...]


def groups_asked(raters: Raters, analysis: AnalysisSpec) -> Grouping:
    """The groups of the axes that an analysis names, as large as it asks."""
    return form_groups(raters, analysis.axes, min_raters=analysis.min_raters)
