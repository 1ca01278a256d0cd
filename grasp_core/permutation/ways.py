"""Which way adds up the sums of some data: the first that fits, and the faster of two ways to count."""

from __future__ import annotations

from typing import NamedTuple

from grasp_core.model.annotations import Annotations
from grasp_core.model.groups import Grouping
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.kernel import crossed as crossed_layout
from grasp_core.permutation.kernel import sparse_layout
from grasp_core.permutation.kernel.arguments import Distances, distances_between
from grasp_core.permutation.kernel.crossed import Crossed
from grasp_core.permutation.kernel.digits import layout as digits_layout
from grasp_core.permutation.kernel.digits.layout import Digits
from grasp_core.permutation.kernel.local import layout as local
from grasp_core.permutation.kernel.local.layout import Local
from grasp_core.permutation.kernel.profiles import Membership
from grasp_core.permutation.kernel.sparse_layout import Sparse
from grasp_core.statistics.levels import category_values

WORD = 64
MOST_PAIRED = 12
"""Most categories whose pairs, and whose sums at an item, are all gone through."""

MOST_WITH_UNKNOWN = 5
"""Most categories whose counts are worth remembering where those of unknown values belong to them."""

_DENSE_COST, _SPARSE_COST = 0.1, 1.2
_MANY_DENSE_COST, _DIGITS_COST = 2.4, 5.5
"""Nanoseconds per rater word and per annotation and row, measured; only their ratio matters. With many
nominal categories what is made of the counts costs more than counting, and digits are the other way."""


class Way(NamedTuple):
    """How sums are added up: by one of the three layouts, `local` with digits or not, or from all counts."""

    distances: Distances
    dense: bool
    crossed: Crossed | None = None
    sparse: Sparse | None = None
    local: Local | None = None
    digits: Digits | None = None

    @property
    def by_rater(self) -> bool:
        """Whether raters say what they add to their groups' use of labels."""
        if self.local is not None:
            return not self.local.by_item
        return self.sparse is not None and not self.sparse.unknown


def choose(
    annotations: Annotations,
    membership: Membership,
    spec: AnalysisSpec,
    width: int,
    *,
    dense: bool | None,
    tables: bool | None,
) -> Way:
    """The first way that fits; `width` is that of a block, see also `build_design` in `design`."""
    n_categories, grouping = annotations.n_categories, membership.grouping
    values = category_values(annotations.categories, spec.level)
    few = n_categories <= MOST_PAIRED or tables is False
    paired = distances_between(spec.level, values, paired=few or dense is True)
    if tables is not False and dense is not False and few and membership.keeps_sizes:
        kappa = spec.voting_agreement == "kappa"
        found = crossed_layout.lay_out(annotations, grouping, paired, width, kappa=kappa)
        if found is not None:
            return Way(paired, True, crossed=found)
    by_pairs = spec.level in ("ordinal", "ratio") and not few
    many = not few and spec.level == "nominal"
    if dense or (dense is None and not by_pairs and _dense_is_faster(annotations, grouping, many=many)):
        return Way(paired, True)
    remembers = few and (grouping.known.all() or n_categories <= MOST_WITH_UNKNOWN or tables is False)
    if tables is not False and remembers and grouping.groups:
        remembered = sparse_layout.lay_out(annotations, membership.profiled)
        if remembered is not None:
            return Way(paired, False, sparse=remembered)
    if tables is not False and annotations.n_annotations and grouping.groups:
        distances = distances_between(spec.level, values, paired=False)
        laid_out = local.lay_out(annotations, membership.profiled, spec)
        digits = digits_layout.lay_out(laid_out) if spec.level == "nominal" else None
        return Way(distances, False, local=laid_out, digits=digits)
    return Way(paired, False)


def _dense_is_faster(annotations: Annotations, grouping: Grouping, *, many: bool) -> bool:
    each_word, each_row = (_MANY_DENSE_COST, _DIGITS_COST) if many else (_DENSE_COST, _SPARSE_COST)
    words = -(-annotations.n_raters // WORD)
    n_rows = len(grouping.known) + len(grouping.groups)
    rows_per_rater = (grouping.known.sum() + grouping.member.sum()) / max(annotations.n_raters, 1)
    dense = each_word * n_rows * annotations.n_categories * words * annotations.n_items
    return bool(dense < each_row * annotations.n_annotations * rows_per_rater)
