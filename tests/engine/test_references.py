"""Runs on files that stay where they are: read again by whoever computes, and only if they are the same."""

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import URL

from grasp_core.engine.service import Service
from grasp_core.model.access import EVERYTHING
from grasp_core.model.errors import DataError
from grasp_core.model.spec import RunSpec
from grasp_core.reading.dataset.load import load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.sources.allowed import AllowedSources
from grasp_core.store.backup import restore_backup, write_backup
from grasp_core.store.database import connect
from grasp_core.store.runs import RunRecord
from tests.engine.asking import SHAPE, question
from tests.engine.serving import ended, result_digits, serving
from tests.permutation.simulated import files, simulate
from tests.reading.sources.serving import site
from tests.zips import zipped

VOTES, RATERS = files(*simulate(1, **SHAPE))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "mounted"
    made.mkdir()
    (made / "votes.csv").write_bytes(VOTES)
    (made / "raters.csv").write_bytes(RATERS)
    return made


def ask(service: Service, *locations: str) -> RunRecord:
    spec = question()
    tables = [service.inputs.refer(location, owner="ann", reach=EVERYTHING) for location in locations]
    dataset = load(tables[0], tables[1], spec.data, spec.analysis.columns)
    return service.submit(dataset, spec, title="A question", reach=EVERYTHING, owner="ann")[0]


def test_another_server_reads_the_files_where_they_are(url: URL, root: Path, right: dict) -> None:
    allowed = AllowedSources(str(root))
    with serving(url, started=False, allowed=allowed) as first:
        record = ask(first, "data:votes.csv", "data:raters.csv")
        assert first.files.used("ann") == 0
    with serving(url, allowed=allowed) as second:
        assert result_digits(second, record) == right


def test_an_address_too(url: URL, right: dict) -> None:
    with site(votes=VOTES, raters=RATERS) as web:
        allowed = AllowedSources(prefixes=(f"{web.url}/data/",))
        with serving(url, started=False, allowed=allowed) as first:
            record = ask(first, f"{web.url}/data/votes.csv", f"{web.url}/data/raters.csv")
        with serving(url, allowed=allowed) as second:
            assert result_digits(second, record) == right


def test_a_run_whose_references_were_restored_elsewhere(tmp_path, url, root, right) -> None:
    allowed = AllowedSources(str(root))
    with serving(url, started=False, allowed=allowed) as first:
        record = ask(first, "data:votes.csv", "data:raters.csv")
    elsewhere = URL.create("sqlite", database=str(tmp_path / "elsewhere.db"))
    engines = connect(url), connect(elsewhere)
    write_backup(engines[0], tmp_path / "b.zip", None)
    restore_backup(engines[1], tmp_path / "b.zip", None)
    for engine in engines:
        engine.dispose()
    with serving(elsewhere, allowed=allowed) as second:
        assert result_digits(second, record) == right


@pytest.mark.parametrize("content", [VOTES + b"i1,r99,label 0\n", b"", b"no table at all"])
def test_a_file_that_changed_is_not_taken_for_the_one_asked_about(url, root, content) -> None:
    allowed = AllowedSources(str(root))
    with serving(url, started=False, allowed=allowed) as first:
        record = ask(first, "data:votes.csv", "data:raters.csv")
    (root / "votes.csv").write_bytes(content)
    with serving(url, allowed=allowed) as second:
        failed = ended(second, record)
    assert failed.state == "failed"
    assert failed.error == (
        "votes.csv has changed where it is kept since it was first read; bring it again on Data, then run."
    )


def test_a_file_that_is_gone_or_not_allowed_any_more(tmp_path: Path, url: URL, root: Path) -> None:
    with serving(url, started=False, allowed=AllowedSources(str(root))) as first:
        record = ask(first, "data:votes.csv", "data:raters.csv")
        name, sha256 = first.runs.files_of(record.id)[0]
    (root / "votes.csv").unlink()

    def refused(allowed: AllowedSources) -> str:
        with serving(url, started=False, allowed=allowed) as again, pytest.raises(DataError) as raised:
            again.inputs.table(name, sha256, reach=EVERYTHING)
        return str(raised.value)

    assert (
        refused(AllowedSources(str(root)))
        == "votes.csv cannot be read in this server's folder: No such file or directory"
    )
    assert refused(AllowedSources()) == "'votes.csv' was in this server's folder, which it has no more"
    (tmp_path / "outside.csv").write_bytes(VOTES)
    (root / "votes.csv").symlink_to(tmp_path / "outside.csv")
    assert "a link that leaves" in refused(AllowedSources(str(root)))


def test_an_upload_of_the_same_file_does_as_well(url: URL, root: Path, right: dict) -> None:
    with serving(url, started=False, allowed=AllowedSources(str(root))) as first:
        record = ask(first, "data:votes.csv", "data:raters.csv")
        first.files.put(VOTES, owner="bob")
        first.files.put(RATERS, owner="bob")
    with serving(url) as second:
        assert result_digits(second, record) == right


@pytest.mark.parametrize("stored", [True, False])
def test_the_part_that_was_asked_about_is_read_again(url: URL, root: Path, right: dict, stored: bool) -> None:
    archive = zipped({"a-first.csv": VOTES.replace(b"label 0", b"label 1"), "votes.csv": VOTES})
    (root / "both.zip").write_bytes(archive)
    spec = question()
    spec = RunSpec(replace(spec.data, member="votes.csv"), spec.analysis)
    allowed = AllowedSources(str(root))
    with serving(url, started=False, allowed=allowed) as first:
        if stored:
            first.files.put(archive, owner="ann")
        else:
            first.inputs.refer("data:both.zip", owner="ann", reach=EVERYTHING)
        raters = first.inputs.refer("data:raters.csv", owner="ann", reach=EVERYTHING)
        table = read_table(archive, "both.zip", member="votes.csv")
        dataset = load(table, raters, spec.data, spec.analysis.columns)
        record, _ = first.submit(dataset, spec, title="A question", reach=EVERYTHING)
    with serving(url, allowed=allowed) as second:
        assert result_digits(second, record)["groups"] == right["groups"]
