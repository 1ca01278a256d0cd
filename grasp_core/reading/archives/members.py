"""Annotators, items and versions by the names of sheets and of files in archives."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import RATERS, form, runs, stem

_RATERS = RATERS | names.word_set("p r a w")  # beginnings of annotators' names
_NOBODY = names.word_set(
    "sheet tabelle blatt feuil hoja foglio table data file q question item batch part task fold split round "
    "wave phase week day train training test dev val valid validation version v copy"
)
"""Words that, with numbers, name no annotator."""
_ITEMS = names.word_set("item data file q question task")
"""Words of `_NOBODY` that may begin the names of items."""
_AGGREGATE = names.MADE | names.word_set(
    "curated curation final all merged combined summary result results template example instructions "
    "instruction agreement total overall readme notes"
)
"""Words for labels made from all annotators' labels, and for files that are not annotators'."""
OF_ALL = names.word_set("agreement majority consensus votes annotators raters workers coders kappa alpha")
"""Words in names of columns about all annotators of an item."""
_VERSION = re.compile(
    r"(\W*\(\d+\)|[\W_]+(copy|kopie|copie|copia|old|alt|bak|backup|final|corrected|korrigiert|new|neu|rev|revised|"
    r"v|version)[\W_]*\d*)\W*$",
    re.I,
)
"""Endings of the names of other versions of a file."""
_ENDINGS = re.compile(
    r"(\.(csv|tsv|txt|jsonl?|ndjson|xlsx?|ods|parquet|arrow|feather|sav|dta|gz|zst|bz2))+$", re.I
)
_BETWEEN = " _-"
_RUN = 3  # fewest columns with like names that make a matrix


def annotators(paths: Sequence[str]) -> list[str]:
    """Return annotators' ids from the names of files or sheets, without parts that all names share.

    ``labels_P01.csv`` and ``labels_P02.csv`` are P01 and P02, ``anna/all.csv`` and ``ben/all.csv`` anna and
    ben, ``P01_batch1.csv`` and ``P01_batch2.csv`` both P01; ``annotator_1`` stays whole, as a number alone
    would say less.
    """
    whole = [PurePosixPath(without_endings(path)).parts for path in paths]
    found: list[list[str]] = []
    for level in range(min(map(len, whole))):
        found.append(_shortened([parts[-1 - level] for parts in whole]))
        able = [name for name in found[-1] if may_be_annotator(name)]
        if len(set(able)) > 1 and 2 * len(able) > len(paths):
            return found[-1]
    return found[0]


def _shortened(whole: list[str]) -> list[str]:
    """Return names without the first and last words that all share, and without numbered batches."""
    pieces = [re.split(r"(?<=[\s_\-])", one) for one in whole]
    width = min(map(len, pieces))
    start = end = 0
    while width > start + 1 and len({one[start] for one in pieces}) == 1:
        start += 1
    while width > start + end + 1 and len({one[-1 - end].strip(_BETWEEN) for one in pieces}) == 1:
        end += 1
    rest = [one[start : len(one) - end] for one in pieces]
    if len(set(map(len, rest))) == 1:
        places = [at for at in range(len(rest[0])) if not all(_is_batch(one[at]) for one in rest)]
        rest = [[one[at] for at in places] for one in rest] if places else rest
    short = ["".join(one).strip(_BETWEEN) for one in rest]
    bare = all(re.fullmatch(r"\d*|\w", one) for one in short)
    kept = bare and not _RATERS.isdisjoint(names.words("".join(pieces[0][:start])))
    return whole if kept or not all(short) else short


def _is_batch(piece: str) -> bool:
    """Return whether a piece is like ``batch1``: a usual word with a number."""
    return bool(re.search(r"\d", piece)) and re.sub(r"[\d\W_]", "", piece).casefold() in _NOBODY


def may_be_annotator(name: str) -> bool:
    """Return whether a name is neither a usual sheet name, nor the name of a split or an aggregate."""
    found = [re.sub(r"\d+", "", word) for word in names.words(name)]
    said = [word for word in found if word]
    return not said or not set(said) <= _NOBODY | _AGGREGATE


def named_alike(raters: Sequence[str]) -> bool:
    """Return whether most names are ids of one form, such as P01 and P02, or addresses."""
    forms = Counter(form(rater) for rater in raters if form(rater) is not None)
    return bool(forms) and 2 * forms.most_common(1)[0][1] > len(raters)


def without_endings(path: str) -> str:
    """Return a name without endings for formats and compression."""
    return _ENDINGS.sub("", path).strip() or path


def versions(ids: Sequence[str]) -> dict[int, int]:
    """Map positions of names with a word for another version to the position of the original name."""
    places = {name.casefold(): at for at, name in reversed([*enumerate(ids)])}
    found = {}
    for at, name in enumerate(ids):
        first = places.get(_VERSION.sub("", name).casefold(), at)
        if first != at and ids[first].casefold() != name.casefold():
            found[at] = first
    return found


def items(paths: Sequence[str]) -> list[str] | None:
    """Return items' ids from names of one form, with folders if names recur; None for splits and rounds."""
    whole = [without_endings(path) for path in paths]
    last = [PurePosixPath(path).name for path in whole]
    ids = last if len(set(last)) == len(last) else whole
    said = {re.sub(r"\d+", "", word) for name in ids for word in names.words(name)}
    usual = said & (_NOBODY - _ITEMS)
    return None if usual or len(set(ids)) < len(ids) or not named_alike(ids) else ids


def named_as_raters(ids: Sequence[str]) -> bool:
    """Return whether a name begins with a word for raters, or has the form of a platform's ids."""
    return any(stem(name) in _RATERS or str(form(name)).startswith("<") for name in ids)


def long_runs(columns: Sequence[str]) -> list[list[str]]:
    """Return runs of columns with names of one form that make a matrix."""
    return [run for run in runs(columns) if len(run) >= _RUN]


def is_aggregate(path: str) -> bool:
    """Return whether a name says that all annotators' labels were put together."""
    return not _AGGREGATE.isdisjoint(names.words(_ENDINGS.sub("", PurePosixPath(path).name)))
