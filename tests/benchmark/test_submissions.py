"""Submissions: whatever is wrong is said, all of it, with file and row."""

import io
import stat
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from grasp_core.benchmark import folders
from grasp_core.benchmark import submissions as labelled
from grasp_core.benchmark.folders import csv_files
from grasp_core.benchmark.submissions import known_ids, read_submission, require_scorable, validate
from grasp_core.benchmark.tasks import Task, builtin_tasks, read_tasks
from grasp_core.model.errors import DataError
from tests.benchmark.folders import CLASSES, IDS, MOOD, SAID, TONE, submission_files, table, write_tasks
from tests.commands import write
from tests.zips import zipped

TASKS = {name: Task(name, CLASSES, ("text",), ("text",)) for name in (MOOD, TONE)}
KNOWN = {MOOD: IDS, TONE: IDS}
FILE = f"data/{MOOD}/predictions.csv"


def messages(source: dict | bytes | Path, tasks=TASKS, ids=KNOWN) -> list[str]:
    """What is wrong with a folder or an archive; of files, with the archive that holds them."""
    given = zipped(source) if isinstance(source, dict) else source
    return [problem.message for problem in validate(read_submission(given, tasks), tasks, ids)]


def with_mood(content: str | bytes) -> list[str]:
    return messages(submission_files() | {FILE: content})


def rows(*changed: tuple[int, str]) -> str:
    """The file with some rows, numbered from 2 as in the file, written differently."""
    lines = table(SAID).splitlines()
    for row, text in changed:
        lines[row - 1] = text
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("below", ["data/", ""])
@pytest.mark.parametrize("packed", [True, False])
def test_both_layouts_in_a_folder_and_a_zip_archive(below: str, packed: bool, tmp_path: Path) -> None:
    files = {path.replace("data/", below): text for path, text in submission_files().items()}
    source = zipped(files) if packed else write(tmp_path, files)
    found = read_submission(source, TASKS)
    assert validate(found, TASKS, KNOWN) == []
    assert found.predictions == {name: dict(zip(IDS, SAID, strict=True)) for name in TASKS}


def test_a_zip_archive_on_disk_and_one_of_the_folder_itself(tmp_path: Path) -> None:
    write(tmp_path, {"mine.zip": zipped(submission_files())})
    assert messages(tmp_path / "mine.zip") == []
    files = {f"my system/{path}": text for path, text in submission_files().items()}
    assert messages({**files, "my system/README.md": "hello", "__MACOSX/x": ""}) == []


@pytest.mark.parametrize(
    "content",
    [
        table(SAID, end="\r\n"),
        b"\xef\xbb\xbf" + table(SAID).encode(),
        "\n".join(f'"{line.split(",")[0]}","{line.split(",")[1]}"' for line in table(SAID).splitlines()),
        "Label,ID\n" + "".join(f"{label},{one}\n" for one, label in zip(IDS, SAID, strict=True)),
        table(SAID).replace("\n", "\n\n"),
    ],
    ids=["Windows", "byte order mark", "quoted", "columns swapped", "blank lines"],
)
def test_other_ways_to_write_the_same(content: str | bytes) -> None:
    assert with_mood(content) == []


def test_order_is_irrelevant_but_reported() -> None:
    turned = read_submission(zipped(submission_files() | {FILE: table(SAID[::-1], IDS[::-1])}), TASKS)
    (found,) = validate(turned, TASKS, KNOWN)
    assert not found.stops
    assert found.message == f"{FILE}: the rows stand in another order than mood's; they are found by ID"
    assert turned.predictions[MOOD] == dict(zip(IDS, SAID, strict=True))


def test_a_missing_task_and_files_of_none_have_the_original_message_first() -> None:
    assert messages(submission_files([MOOD])) == [
        "Incorrect number of files! Expected 2 files, but got 1.",
        "data/tone/predictions.csv is missing; the submission has no labels for the task tone",
    ]
    alone = {"data/banking_77/predictions.csv": table(["age_limit"], ["50"])}
    found = messages(alone, builtin_tasks(), {})
    assert found[0] == "Incorrect number of files! Expected 11 files, but got 1."
    assert "Incorrect CSV shapes in files: ['data/banking_77/predictions.csv']" in found
    more = {"data/moood/predictions.csv": table(SAID), f"data/{MOOD}/test.csv": table(SAID)}
    found = messages(submission_files() | more)
    assert found[0] == "Incorrect number of files! Expected 2 files, but got 4."
    assert [message.split()[0] for message in found[1:]] == [
        f"data/{MOOD}/test.csv",
        "data/moood/predictions.csv",
    ]
    files = {FILE: rows((3, "51,Unlabeled"), (4, "51,nein")), "data/other/predictions.csv": table(SAID)}
    found = messages(files)
    parts = ("Incorrect number of files!", "tone/predictions.csv is missing", "data/other", "occurs again")
    for part in (*parts, "no row for 1 ID", "'Unlabeled'", "'nein'"):
        assert any(part in message for message in found)


@pytest.mark.parametrize("header", ["id,label", "ID,label", "ID,Prediction", "50,no", " ID,Label"])
def test_a_wrong_header(header: str) -> None:
    found = with_mood(rows((1, header)))
    assert found[0] == f"Incorrect CSV columns in files: ['{FILE}']"
    assert found[1].startswith(f"{FILE}, row 1: the header names ")
    assert len(found) == 2


def test_ids_that_no_test_row_of_the_benchmark_can_have() -> None:
    tasks = {"overruling": builtin_tasks()["overruling"]}
    labels = ["overruling"] * 2_350
    shifted = table(labels, [str(number) for number in range(2_350)])
    assert messages({"data/overruling/predictions.csv": shifted}, tasks, {}) == [
        "data/overruling/predictions.csv, row 2: the ID '0' is of no test row (49 more rows likewise); "
        "test rows have whole numbers from 50"
    ]
    right = table(labels, [str(number) for number in range(50, 2_400)])
    assert messages({"data/overruling/predictions.csv": right}, tasks, {}) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            table(SAID[:-1], IDS[:-1]),  # a row less
            [
                f"Incorrect CSV shapes in files: ['{FILE}']",
                f"{FILE} has 7 rows below its header; mood has 8 rows to be labelled",
                f"{FILE} has no row for 1 ID of mood: '57'; label every row",
            ],
        ),
        (
            "\n".join(
                f"{line},{number}" for number, line in enumerate(table(SAID).splitlines())
            ),  # a column more
            [
                f"Incorrect CSV shapes in files: ['{FILE}']",
                f"{FILE}, row 1: 3 columns were found; there must be 2",
                f"Incorrect CSV columns in files: ['{FILE}']",
                f"{FILE}, row 1: the header names 'ID', 'Label', '0'; it must be ID,Label",
            ],
        ),
        (
            rows((6, "51,yes"), (7, "51,yes")),  # an ID again
            [
                f"{FILE}, row 6: the ID '51' occurs again, first in row 3 (1 more row likewise); "
                "give every ID one row",
                f"{FILE} has no row for 2 IDs of mood: '54', '55'; label every row",
            ],
        ),
        (
            rows((4, "52.0,no"), (5, ",no")),  # an ID of no row
            [
                f"{FILE}, row 4: the ID '52.0' is of no row of mood (1 more row likewise); "
                "use the IDs of the rows to be labelled",
                f"{FILE} has no row for 2 IDs of mood: '52', '53'; label every row",
            ],
        ),
        (
            rows((2, "50,Unlabeled")),  # unlabelled
            [
                f"{FILE}, row 2: the label is 'Unlabeled', which marks rows whose label is private; "
                "use one of 'no', 'yes', 'maybe so'"
            ],
        ),
        *(
            (
                rows((9, f"57,{label}")),
                [f"{FILE}, row 9: the label '{label}' is none of the 3 classes of mood; {wanted}"],
            )
            for label, wanted in (
                ("Maybe so", "did you mean 'maybe so'?"),
                ("yes ", "did you mean 'yes'?"),
                ("1", "use one of 'no', 'yes', 'maybe so'"),
                ("", "use one of 'no', 'yes', 'maybe so'"),
            )
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_row(content: str, said: list[str]) -> None:
    assert with_mood(content) == said


def test_rows_are_counted_as_in_the_file_where_cells_hold_line_breaks() -> None:
    files = submission_files() | {FILE: rows((2, '50,"no\nno"'), (5, "53,never"))}
    (problem,) = validate(read_submission(zipped(files), TASKS), TASKS, KNOWN)
    assert problem.message.startswith(f"{FILE}, row 2:")
    assert "(1 more row likewise)" in problem.message
    assert problem.examples == (f"{FILE}, row 2", f"{FILE}, row 6")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"ID,Label\n", "and no rows"),
        (b"ID\n50\n", "only one column"),
        (table(SAID).replace(",", ";").encode(), "is CSV, semicolons; separate ID and Label by a comma"),
        (rows((3, "51,no,yes")).encode(), "row 3: 3 fields found"),
        (rows((3, '51,"no')).encode(), "row 3: a quotation mark opens a field and is never closed"),
        (b"ID,Label\n50,n\0o\n", "a NUL byte"),
        (b"PK\x03\x04,no\n\0\0\0", "a NUL byte"),
    ],
)
def test_a_file_that_cannot_be_read(content: bytes, said: str) -> None:
    (message,) = with_mood(content)
    assert message.startswith("Could not load predictions! Errors: [")
    assert FILE in message
    assert said in message


@pytest.mark.long
def test_a_cell_of_a_gigabyte_in_a_small_archive() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in submission_files([TONE]).items():
            archive.writestr(name, text)
        with archive.open(FILE, "w") as file:
            file.write(b"ID,Label\n50,")
            for _ in range(1024):
                file.write(b"x" * 2**20)
    assert len(packed.getvalue()) < 2_000_000
    wanted = f"{FILE} is larger than 64 MiB; it should hold an ID and a class name per row"
    assert messages(packed.getvalue()) == [f"Could not load predictions! Errors: ['{wanted}']"]


def test_too_many_rows_and_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    for end in ("\n", "\r", "\r\n"):
        (message,) = with_mood("ID,Label" + end * 2_000_001)  # not taken apart
        assert f"{FILE} has more than 2,000,000 lines" in message
    monkeypatch.setattr(labelled, "MAX_ROWS", 8)
    assert with_mood(table(SAID)) == []
    (message,) = with_mood(table([*SAID, "no"], [*IDS, "58"]))
    assert f"{FILE} has 9 rows, at most 8 are read" in message


def test_archives_too_large_of_countless_files_or_with_a_lie_are_refused(tmp_path, monkeypatch) -> None:
    packed = tmp_path / "mine.zip"
    packed.write_bytes(zipped(submission_files()))
    with packed.open("r+b") as file:
        file.truncate(800 * 10**6)
    with pytest.raises(DataError, match=r"mine\.zip is larger than 256 MiB"):
        read_submission(packed, TASKS)
    # The size in the directory is a lie; reading stops there, and the check sum gives it away
    files = submission_files() | {FILE: table(SAID) + "\n" * 100_000}
    packed = bytearray(zipped(files))
    size = len(files[FILE])
    lie = packed.replace(struct.pack("<L", size), struct.pack("<L", 20))
    (message,) = messages(bytes(lie))
    assert "is damaged; pack the archive again" in message
    files = {f"notes/{number}.txt": b"" for number in range(10_001)}
    monkeypatch.setattr(zipfile, "ZipFile", None)  # opening it would take 400 bytes for each
    with pytest.raises(DataError, match="the archive holds more than 10,000 files"):
        read_submission(packed_by_hand(files), TASKS)


def test_a_cell_of_a_gigabyte_in_a_folder_and_a_long_one_below_the_limit_of_a_file(tmp_path: Path) -> None:
    write(tmp_path, submission_files())
    with (tmp_path / FILE).open("r+b") as file:
        file.truncate(2**30)  # a sparse file: it takes no room
    (message,) = messages(tmp_path)
    assert "is larger than 64 MiB" in message
    (message,) = with_mood(rows((3, "51," + "x" * 20_000_000)))
    assert "a line of more than 16,777,216 bytes" in message
    assert len(message) < 400


def packed_by_hand(files: Mapping[str, bytes]) -> bytes:
    """An archive's directory alone."""
    entries = [
        b"PK\x01\x02" + struct.pack("<6H3L5H2L", 20, 20, 0, 0, 0, 0, 0, 0, 0, len(name), *[0] * 6) + name
        for name in map(str.encode, files)
    ]
    directory = b"".join(entries)
    end = struct.pack("<4H2LH", 0, 0, len(files), len(files), len(directory), 4, 0)
    return b"PK\x03\x04" + directory + b"PK\x05\x06" + end


@pytest.mark.parametrize(
    "path",
    [
        *("../x.csv", "data/../../x.csv", "/etc/x.csv", "../../.ssh/x"),
        *("..\\x.csv", "C:\\x.csv", "C:/x.csv", "\\x.csv"),
    ],
)
def test_archives_whose_paths_climb_out_are_refused(path: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="whose path leads out of the archive"):
        read_submission(zipped(submission_files() | {path: table(SAID)}), TASKS, "mine.zip")
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_an_archive_is_a_file_like_any_other() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        link = zipfile.ZipInfo(FILE)
        link.create_system = 3
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr(f"data/{TONE}/predictions.csv", table(SAID))
    (message,) = messages(packed.getvalue())
    assert "only one column was found ('/etc/passwd')" in message


@pytest.mark.parametrize("end", [0, 10, 100, -1])
def test_archives_that_are_cut_off(end: int) -> None:
    with pytest.raises(DataError, match=r"mine.zip is (a zip archive that is damaged|neither)"):
        read_submission(zipped(submission_files())[:end], TASKS, "mine.zip")


def test_what_is_no_submission_and_archives_without_files_or_with_two_of_one_name(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.zip does not exist at .*none\.zip; name"):
        read_submission(tmp_path / "none.zip", TASKS)
    write(tmp_path, {"mine.csv": table(SAID)})
    with pytest.raises(DataError, match=r"mine.csv is neither a folder nor a zip archive"):
        read_submission(tmp_path / "mine.csv", TASKS)
    with pytest.raises(DataError, match="without files"):
        read_submission(zipped({}), TASKS)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(FILE, table(SAID))
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr(FILE, table(SAID[::-1]))
    with pytest.raises(DataError, match="two files named"):
        read_submission(packed.getvalue(), TASKS)


def test_too_many_files_and_too_much_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"data/{number}/predictions.csv": table(SAID) for number in range(20)}
    monkeypatch.setattr(folders, "MAX_FILES", 19)
    for source in (zipped(files), write(tmp_path, files)):
        with pytest.raises(DataError, match="holds 20 CSV files"):
            csv_files(source)
    monkeypatch.setattr(folders, "MAX_FILES", 20)
    monkeypatch.setattr(folders, "MAX_TOTAL", 10 * len(table(SAID)))
    for source in (zipped(files), tmp_path):
        with pytest.raises(DataError, match="together"):
            csv_files(source)


def test_a_file_that_cannot_be_read_from_the_disk(tmp_path: Path) -> None:
    write(tmp_path, submission_files())
    (tmp_path / FILE).unlink()
    (tmp_path / FILE).symlink_to("/proc/self/mem")  # a file whose start nobody can read, not even root
    wanted = f"{FILE} cannot be read: Input/output error"
    assert messages(tmp_path) == [f"Could not load predictions! Errors: ['{wanted}']"]


def test_a_missing_task_can_be_scored_without_but_a_wrong_row_cannot() -> None:
    require_scorable(read_submission(zipped(submission_files([MOOD])), TASKS), TASKS, KNOWN)
    wrong = read_submission(zipped({FILE: rows((2, "50,nein"))}), TASKS)
    with pytest.raises(DataError, match=f"{FILE}, row 2: the label 'nein'"):
        require_scorable(wrong, TASKS, KNOWN)
    with pytest.raises(DataError, match="no file of any of the 2 tasks"):
        require_scorable(read_submission(zipped({"readme.txt": "x"}), TASKS), TASKS, KNOWN)


def test_ids_are_those_of_the_tasks_folders(tmp_path: Path) -> None:
    write_tasks(tmp_path, [MOOD])
    write_tasks(tmp_path, [TONE], test=False)
    assert known_ids(tmp_path) == {MOOD: IDS}
    assert known_ids(None) == {}
    assert set(read_tasks(tmp_path)) == {MOOD, TONE}
