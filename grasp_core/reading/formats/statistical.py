"""Reading of SPSS and Stata files as text, by ReadStat through pyreadstat.

ReadStat is a C library that hostile bytes can crash, so this code must run in a separate process.
"""

import datetime
import io
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyreadstat

from grasp_core.model.annotations import FloatArray
from grasp_core.model.errors import DataError, Problem, know
from grasp_core.model.remarks.problems import FileProblem
from grasp_core.model.text import quoted
from grasp_core.reading.formats.arrow import as_text
from grasp_core.reading.table.columns import (
    MAX_CELLS,
    Vocabulary,
    check_cells,
    compact,
    duration_text,
    moment_text,
)
from grasp_core.reading.table.parsed import Watch, name_columns, no_rows
from grasp_core.reading.table.table import Parsed

_FAILURES = (
    pyreadstat.ReadstatError,
    pyreadstat.PyreadstatError,
    ValueError,
    Warning,
    OverflowError,
    LookupError,
    TypeError,
    OSError,
)
_LABELS_SHOWN = 4
_PORTABLE = re.compile(rb"[^,;|\t]{40,200}SPSS PORT FILE")
"""The start of a portable file: five lines of 40 characters, of which only some are ASCII."""
_BYTES = "ISO-8859-1"
"""An encoding in which every byte is one letter, so that the bytes of texts can be recovered."""


class Format(NamedTuple):
    """A kind of file: its name for people, its reading function, and whether it declares its encoding."""

    kind: str
    read: Callable[..., tuple[dict[str, Any], Any]]
    declares: bool = True


_SAV = Format("SPSS", pyreadstat.read_sav)
_ZSAV = Format("SPSS, ZSAV", pyreadstat.read_sav)
_POR = Format("SPSS, portable", pyreadstat.read_por)
_DTA = Format("Stata", pyreadstat.read_dta)
_OLD_DTA = Format("Stata", pyreadstat.read_dta, declares=False)


def parse(content: bytes, form: Format, name: str, watch: Watch) -> Parsed:
    """Read an SPSS or Stata file: labels replace codes if all have one; missing values become empty."""
    watch(0, len(content))
    columns, about, encoding = _read(content, form, name)
    names, notes = name_columns(list(columns), name, "the names of the variables")
    found = [_column(cells, column, about) for column, cells in columns.items()]
    if not found or not len(found[0].text):
        raise no_rows(name)
    texts = [column.text for column in found]
    if encoding.upper() not in ("UTF-8", "UTF8"):
        beyond = (one for column in texts for one in column.dictionary.to_pylist() if not one.isascii())
        notes += [
            know(FileProblem.OTHER_ENCODING_INSIDE(file=name, encoding=encoding, example=example))
            for example in islice(beyond, 1)
        ]
    return Parsed(
        compact(pa.Table.from_arrays(texts, names=list(names))),
        form.kind,
        first_row=1,
        problems=(*notes, *_notes(found, name)),
        vocabularies=tuple(
            Vocabulary(shown, (*column.scale.values(),), ordered=True, codes=(*column.scale,))
            for shown, column in zip(names, found, strict=True)
            if column.labelled and column.scale
        ),
    )


def form_of(content: bytes) -> Format | None:
    """Return the kind of an SPSS or Stata file by its first bytes; None for others."""
    if content.startswith((b"$FL2", b"$FL3")):
        return _SAV if content.startswith(b"$FL2") else _ZSAV
    if content.startswith(b"<stata_dta>"):
        return _OLD_DTA if b"<release>117<" in content[:100] else _DTA
    if _PORTABLE.match(content):
        return _POR
    # The format's number, the order of the bytes, and two constants.
    old = len(content) > 4 and 104 <= content[0] <= 115 and content[1] in (1, 2)
    return _OLD_DTA if old and content[2:4] == b"\1\0" else None


def _read(content: bytes, form: Format, name: str) -> tuple[dict[str, Any], Any, str]:
    """Return the columns, the file's metadata, and the encoding of its texts."""
    refused: Exception | None = None
    if form.declares:
        try:
            columns, about = _read_as(content, form, name)
            return columns, about, about.file_encoding or "UTF-8"
        except _FAILURES as error:
            refused = error
    if form is not _POR and (
        refused is None or isinstance(refused, UnicodeError) or "encoding" in str(refused)
    ):
        try:
            return _decoded(*_read_as(content, form, name, encoding=_BYTES))
        except _FAILURES as error:
            refused = error
    raise DataError(
        f"{name} is a damaged or cut-off {form.kind} file; write it again, or save the data as CSV there"
    ) from refused


class _Stream(io.BytesIO):
    """A file that keeps the error if memory ends while it is read; ReadStat takes that for the file's end."""

    ended: MemoryError | None = None

    def read(self, size: int | None = -1, /) -> bytes:
        """Read the next bytes."""
        try:
            return super().read(size)
        except MemoryError as error:
            self.ended = error
            raise


def _read_as(content: bytes, form: Format, name: str, **more: Any) -> tuple[dict[str, Any], Any]:
    options = {"disable_datetime_conversion": True, **more}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # names that occur twice are otherwise changed
        _, about = form.read(io.BytesIO(content), metadataonly=True, **options)
        width = max(1, about.number_columns or 0)
        check_cells(width * max(0, about.number_rows or 0), name)
        if form is not _POR:
            options["user_missing"] = True
        most = MAX_CELLS // width + 1
        stream = _Stream(content)
        try:
            columns, about = form.read(stream, output_format="dict", row_limit=most, **options)
        except pyreadstat.ReadstatError:
            if stream.ended is not None:
                raise stream.ended from None
            raise
    if not all(isinstance(column, str) for column in columns):
        raise ValueError("a variable has no name")
    check_cells(width * max((len(cells) for cells in columns.values()), default=0), name)
    return columns, about


_BY_COLUMN = ("variable_value_labels", "missing_ranges", "readstat_variable_types", "original_variable_types")


def _decoded(columns: dict[str, Any], about: Any) -> tuple[dict[str, Any], Any, str]:
    """Decode texts that were read byte by byte: as UTF-8 if all of them are, else as Windows-1252."""
    found = {cell for cells in columns.values() for cell in cells if isinstance(cell, str)}
    labels = [label for labels in about.variable_value_labels.values() for label in labels.values()]
    encoding = "UTF-8"
    try:
        for text in (*found, *columns, *labels):
            text.encode("latin-1", "replace").decode()
    except UnicodeDecodeError:
        encoding = "Windows-1252"

    def decoded(value: Any) -> Any:
        if not isinstance(value, str) or value.isascii():
            return value
        return value.encode("latin-1", "replace").decode(encoding, "replace")

    about.variable_value_labels = {
        column: {value: decoded(label) for value, label in labels.items()}
        for column, labels in about.variable_value_labels.items()
    }
    for field in _BY_COLUMN:
        told = getattr(about, field).items()
        setattr(about, field, {decoded(column): value for column, value in told})
    texts = {decoded(column): [decoded(cell) for cell in cells] for column, cells in columns.items()}
    return texts, about, encoding


class _Column(NamedTuple):
    """A column's texts, numbers of cells declared and system-missing, and its value labels, used or not."""

    name: str
    text: pa.DictionaryArray
    declared: int
    system: int
    labels: Mapping[Any, str]
    labelled: bool

    @property
    def scale(self) -> dict[float, str]:
        """Value labels in the order of their codes; none if two are equal, or codes are no numbers."""
        codes = sorted(code for code in self.labels if not isinstance(code, str))
        values = {float(code): str(self.labels[code]).strip() for code in codes}
        return values if len(codes) == len(self.labels) == len(set(values.values())) else {}


def _column(cells: Sequence[Any], name: str, about: Any) -> _Column:
    labels = about.variable_value_labels.get(name, {})
    ranges = about.missing_ranges.get(name, ())
    if about.readstat_variable_types.get(name) == "string":
        values = pa.array([str(cell) if cell is not None else None for cell in cells], pa.string())
        codes = values.dictionary_encode()
        distinct: list[Any] = codes.dictionary.to_pylist()
        positions = codes.indices.fill_null(-1).to_numpy()
        tagged, texts = 0, pa.array(distinct, pa.string())
    else:
        tagged = sum(isinstance(cell, str) for cell in cells)  # Stata's .a to .z
        reals = np.array([np.nan if cell is None or isinstance(cell, str) else cell for cell in cells], float)
        values, positions = np.unique(reals, return_inverse=True)
        values, positions = values[~np.isnan(values)], np.where(np.isnan(reals), -1, positions)
        distinct, texts = values.tolist(), _texts(values, name, about)
    out = np.array([_among(value, ranges) for value in distinct], dtype=bool)
    missing = positions < 0
    declared = np.zeros_like(missing)
    declared[~missing] = out[positions[~missing]]
    kept = [value for value, gone in zip(distinct, out, strict=True) if not gone]
    known = {value: str(labels[value]).strip() for value in kept if value in labels}
    # Each value that occurs has a label, and no two labels are equal.
    labelled = 0 < len(known) == len(kept) == len(set(known.values())) and all(known.values())
    if labelled:
        texts = pa.array([known.get(value, "") for value in distinct], pa.string())
    text = pa.DictionaryArray.from_arrays(pa.array(positions, pa.int32(), mask=missing | declared), texts)
    valid = {} if not kept else {value: label for value, label in labels.items() if not _among(value, ranges)}
    return _Column(
        name,
        as_text(text),
        declared=int(declared.sum()) + tagged,
        system=int(missing.sum()) - tagged,
        labels=valid,
        labelled=labelled,
    )


def _texts(values: FloatArray, name: str, about: Any) -> pa.Array:
    moments = _moments(about.original_variable_types.get(name) or "")
    if moments is not None:
        return pa.array([moments(value) for value in values.tolist()], pa.string())
    single = about.readstat_variable_types.get(name) == "float"
    plain = pa.array(values.astype(np.float32) if single else values)
    return as_text(plain).dictionary_decode()


_SPSS, _STATA = datetime.datetime(1582, 10, 14), datetime.datetime(1960, 1, 1)
_MOMENTS: tuple[tuple[str, datetime.datetime | None, float], ...] = (
    (r"%-?(td|d)", _STATA, 86_400.0),
    (r"%-?t[cC]", _STATA, 1e-3),
    (r"(DATE|ADATE|EDATE|JDATE|SDATE|QYR|MOYR|WKYR|DATETIME|YMDHMS)(?![A-Z])", _SPSS, 1.0),
    (r"(TIME|DTIME|MTIME)(?![A-Z])", None, 1.0),
)
"""Formats of times, their starting point (None for durations), and their unit in seconds."""


def _moments(written: str) -> Callable[[float], str] | None:
    """Return a function from numbers to text if the format is one of times, as ``DATE11`` or ``%td``."""
    if re.match("%-?tm", written):
        return _month
    told = ((start, unit) for pattern, start, unit in _MOMENTS if re.match(pattern, written))
    if (found := next(told, None)) is None:
        return None
    start, unit = found

    def moment(value: float) -> str:
        try:
            passed = datetime.timedelta(seconds=value * unit)
            return duration_text(passed) if start is None else moment_text(start + passed)
        except (OverflowError, ValueError):  # a number beyond all calendars stays a number
            return repr(value)

    return moment


def _month(value: float) -> str:
    months = int(value) if abs(value) < 1e5 else 0
    year, month = divmod(months, 12)
    return f"{1960 + year:04}-{month + 1:02}" if months == value else repr(value)


def _among(value: Any, ranges: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the file declares the value, a number or a text, missing."""
    alike = (ends for ends in ranges if isinstance(ends["lo"], str) == isinstance(value, str))
    return any(ends["lo"] <= value <= ends["hi"] for ends in alike)


def _notes(columns: Sequence[_Column], name: str) -> list[Problem]:
    """Return notes on cells read as empty, on columns with labels, and on columns that keep their codes."""
    notes = []
    for code, counts in (
        (FileProblem.DECLARED_MISSING, {one.name: one.declared for one in columns}),
        (FileProblem.SYSTEM_MISSING, {one.name: one.system for one in columns}),
    ):
        found = {column: count for column, count in counts.items() if count}
        if found:
            total = sum(found.values())
            notes.append(know(code(file=name, cells=total, columns=tuple(found)), total))
    used = tuple(column.name for column in columns if column.labelled)
    if used:
        notes.append(know(FileProblem.LABELS_FOR_CODES(file=name, columns=used, count=len(used)), len(used)))
    for column in columns:
        if column.labels and not column.labelled:
            pairs = column.labels.items()
            some = [f"{str(value).removesuffix('.0')} {quoted(str(label))}" for value, label in pairs]
            labels = ", ".join(some[:_LABELS_SHOWN]) + (", ..." if len(some) > _LABELS_SHOWN else "")
            notes.append(know(FileProblem.CODES_KEPT(file=name, column=column.name, labels=labels)))
    return notes
