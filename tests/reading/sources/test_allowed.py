"""Files of the server's folder and of allowed addresses: read, listed, and nothing beside them."""

import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from grasp_core.model.errors import DataError, SettingsError
from grasp_core.reading.archives import containers
from grasp_core.reading.connectors.fetching import read_anywhere
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.sources import allowed as allowed_module
from grasp_core.reading.sources import remote
from grasp_core.reading.sources.allowed import AllowedSources
from tests.reading.making import refusal_of
from tests.reading.sources.serving import Site, site

VOTES = b"item,rater,label\ni1,r1,Yes\ni1,r2,No\n"
SECRET = b"item,rater,label\nsecret,r1,Yes\n"


def write_parquet(path: Path, **columns: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a file beside it that nobody may read."""
    made = tmp_path / "mounted"
    (made / "may").mkdir(parents=True)
    (made / "may" / "votes.csv").write_bytes(VOTES)
    (tmp_path / "secret.csv").write_bytes(SECRET)
    (tmp_path / "mounted2").mkdir()
    (tmp_path / "mounted2" / "secret.csv").write_bytes(SECRET)
    return made


@pytest.fixture
def allowed(root: Path) -> AllowedSources:
    return AllowedSources(str(root))


@pytest.fixture
def web() -> Iterator[Site]:
    with site(votes=VOTES) as served:
        yield served


def refused(allowed: AllowedSources, location: str) -> str:
    sentence = refusal_of(lambda: allowed.fetch(location))
    assert "secret,r1" not in sentence
    return sentence


def test_files_and_parquet_folders_are_what_uploads_and_commands_read(allowed, root) -> None:
    fetched = allowed.fetch("data:may/votes.csv")
    table, uploaded = fetched.table(), read_table(VOTES, "votes.csv")
    assert (table.name, table.sha256, table.bytes) == (uploaded.name, uploaded.sha256, uploaded.bytes)
    assert table.data == uploaded.data
    assert fetched.sha256 == hashlib.sha256(VOTES).hexdigest()
    assert fetched.location == "data:may/votes.csv"
    for month in ("4", "5"):
        write_parquet(root / "all" / f"month={month}" / "p.parquet", item=["i"], rater=["r"], label=[month])
    fetched = allowed.fetch("data:all")
    here, there = fetched.table(), read_table(root / "all")
    assert here.sha256 == there.sha256 == fetched.sha256
    assert (here.data, here.bytes) == (there.data, there.bytes)
    assert "without *.parquet files" in refused(allowed, "data:may")


@pytest.mark.parametrize(
    "path",
    [
        *("../secret.csv", "may/../../secret.csv", "may/./votes.csv", "may//votes.csv", "/etc/passwd"),
        *("..", ".", "", "may\\..\\..\\secret.csv", "may/votes.csv\x00.txt"),
        *(".hidden/votes.csv", "~/x", "/may/votes.csv", "../mounted2/secret.csv"),
    ],
)
def test_no_way_out_of_the_folder(root: Path, allowed: AllowedSources, path: str) -> None:
    (root / ".hidden").mkdir()
    (root / ".hidden" / "votes.csv").write_bytes(SECRET)
    sentence = refused(allowed, f"data:{path}")
    assert "not the path of a file" in sentence or "No such file" in sentence


def test_links_may_not_leave_the_folder(tmp_path: Path, root: Path, allowed: AllowedSources) -> None:
    links = {
        "out.csv": tmp_path / "secret.csv",
        "relative.csv": "../secret.csv",
        "outside": tmp_path / "mounted2",
        "chain.csv": "out.csv",
        "inside.csv": "may/votes.csv",
        "linked": "may",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    for path in ("out.csv", "relative.csv", "outside/secret.csv", "outside", "chain.csv"):
        assert "a link that leaves" in refused(allowed, f"data:{path}")
    for path in ("inside.csv", "linked/votes.csv"):
        assert allowed.fetch(f"data:{path}").content == VOTES
    assert [entry.path for entry in allowed.listing().entries] == ["inside.csv", "may/votes.csv"]
    write_parquet(tmp_path / "secret.parquet", item=["secret"])
    write_parquet(root / "all" / "a.parquet", item=["i"])
    (root / "all" / "b.parquet").symlink_to(tmp_path / "secret.parquet")
    assert [path for path, _ in allowed.fetch("data:all").content] == ["a.parquet"]


@pytest.mark.parametrize(("place", "target"), [("may/votes.csv", "secret.csv"), ("may", "mounted2")])
def test_a_link_that_appears_later_is_not_followed(monkeypatch, tmp_path, root, allowed, place, target):
    real = os.path.realpath

    def checked(path: str) -> str:
        found = real(path)
        (root / place).rename(tmp_path / "old")
        (root / place).symlink_to(tmp_path / target)
        return found

    monkeypatch.setattr(os.path, "realpath", checked)
    assert "cannot be read" in refused(allowed, "data:may/votes.csv")


def test_pipes_are_not_waited_for_and_too_large_files_not_even_read(root, allowed, monkeypatch) -> None:
    os.mkfifo(root / "pipe.csv")
    assert "is not a file" in refused(allowed, "data:pipe.csv")
    assert [entry.path for entry in allowed.listing().entries] == ["may/votes.csv"]
    monkeypatch.setattr(containers, "MAX_BYTES", len(VOTES))
    assert allowed.fetch("data:may/votes.csv").content == VOTES
    monkeypatch.setattr(containers, "MAX_BYTES", len(VOTES) - 1)
    assert "the most that is read" in refused(allowed, "data:may/votes.csv")
    for name in "abc":
        write_parquet(root / "all" / f"{name}.parquet", item=["i"])
    one = (root / "all" / "a.parquet").stat().st_size
    monkeypatch.setattr(containers, "MAX_BYTES", 2 * one)
    assert "the most that is read" in refused(allowed, "data:all")


def test_the_listing(root: Path, allowed: AllowedSources) -> None:
    (root / ".secret.csv").write_bytes(SECRET)
    (root / "may" / ".git").mkdir()
    (root / "may" / ".git" / "config").write_bytes(SECRET)
    (root / "odd\nname.csv").write_bytes(VOTES)
    os.utime(root / "may" / "votes.csv", (1.0, 86400.0))
    for year in ("2025", "2026"):
        write_parquet(root / "all" / f"year={year}" / "p.parquet", item=["i"])
    shown = allowed.listing()
    assert not shown.more
    assert [entry.path for entry in shown.entries if entry.parquet_folder] == ["all"]
    parts_of_all = ["all/year=2025/p.parquet", "all/year=2026/p.parquet"]
    assert [entry.path for entry in shown.entries] == ["all", *parts_of_all, "may/votes.csv"]
    whole, *parts, votes = shown.entries
    assert whole.bytes == sum(part.bytes for part in parts)
    assert (votes.bytes, votes.changed) == (len(VOTES), 86400.0)
    assert [entry.path for entry in allowed.listing("VOTES").entries] == ["may/votes.csv"]
    assert allowed.listing("nothing").entries == ()


def test_the_listing_ends(monkeypatch, root: Path, allowed: AllowedSources) -> None:
    for number in range(12):
        (root / f"{number:02}.csv").write_bytes(VOTES)
    monkeypatch.setattr(allowed_module, "MAX_LISTED", 10)
    shown = allowed.listing()
    assert (len(shown.entries), shown.more) == (10, True)
    assert [entry.path for entry in allowed.listing("11").entries] == ["11.csv"]
    monkeypatch.setattr(allowed_module, "MAX_SEEN", 3)
    assert (len(allowed.listing().entries), allowed.listing().more) == (3, True)


def test_without_places_nothing_is_read_and_wrong_ones_are_a_sentence(tmp_path: Path) -> None:
    nothing = AllowedSources()
    assert not nothing
    assert nothing.listing().entries == ()
    assert "which it has no more" in refused(nothing, "data:may/votes.csv")
    assert "reads no addresses" in refused(nothing, "https://data.example.org/votes.csv")
    with pytest.raises(SettingsError, match=r"GRASP_DATA_DIR: .* is not a folder"):
        AllowedSources(str(tmp_path / "nowhere"))
    for prefix in ("file:///etc/", "https://user:hidden@h/", "simplecache::s3://b/", "data/"):
        with pytest.raises(SettingsError, match="GRASP_DATA_URLS: ") as raised:
            AllowedSources(prefixes=(prefix,))
        assert "hidden" not in str(raised.value)


@pytest.fixture
def below(web: Site) -> AllowedSources:
    return AllowedSources(prefixes=(f"{web.url}/data/",))


def test_an_address_below_a_prefix_may_have_to_be_encoded(web: Site, below: AllowedSources) -> None:
    fetched = below.fetch(f" {web.url}/data/votes.csv ")
    assert (fetched.name, fetched.location) == ("votes.csv", f"{web.url}/data/votes.csv")
    assert fetched.table().sha256 == hashlib.sha256(VOTES).hexdigest() == fetched.sha256
    assert web.asked == ["/data/votes.csv"]
    web.files["/data/m%C3%A4rz%20(1)+2.csv"] = VOTES
    for name in ("märz (1)+2.csv", "m%C3%A4rz%20(1)+2.csv"):
        assert below.fetch(f"{web.url}/data/{name}").content == VOTES


def test_an_address_elsewhere_is_not_even_asked(web: Site, below: AllowedSources) -> None:
    web.files["/other/votes.csv"] = VOTES
    for url in (f"{web.url}/other/votes.csv", f"{web.url}/data2/votes.csv", f"{web.url}/"):
        assert "may read; it reads what is below" in refused(below, url)
    assert web.asked == []


def test_redirects_stay_on_the_host_and_below_a_prefix(web: Site) -> None:
    with site(votes=SECRET) as other:
        web.files["/other/votes.csv"] = SECRET
        web.redirects = {
            "/data/near.csv": "votes.csv",
            "/data/far.csv": f"{other.url}/data/votes.csv",
            "/data/without-scheme.csv": f"//{other.url.partition('//')[2]}/data/votes.csv",
            "/data/up.csv": "/other/votes.csv",
            "/data/two.csv": "/data/far.csv",
            "/data/file.csv": "file:///etc/passwd",
            "/data/dots.csv": "/data/../other/votes.csv",
            "/data/user.csv": other.url.replace("//", "//user:hidden@") + "/data/votes.csv",
            "/data/round.csv": "/data/round.csv",
        }
        allowed = AllowedSources(prefixes=(f"{web.url}/data/", f"{other.url}/data/"))
        assert allowed.fetch(f"{web.url}/data/near.csv").content == VOTES
        for name in ("far", "without-scheme", "up", "two", "file", "dots", "user", "round"):
            sentence = refused(allowed, f"{web.url}/data/{name}.csv")
            assert name in sentence
            assert "hidden" not in sentence
        assert other.asked == []
        assert "/other/votes.csv" not in web.asked


def test_what_the_other_server_says(web: Site, below: AllowedSources) -> None:
    for name, sentence in (
        ("nowhere", "nowhere.csv is not at that address"),
        ("private", "private.csv cannot be read from its address: access is not allowed"),
        ("broken", "broken.csv cannot be read from its address: the server answers with status 500"),
    ):
        assert sentence in refused(below, f"{web.url}/data/{name}.csv")
    nobody = AllowedSources(prefixes=("http://127.0.0.1:9/",))
    assert "no connection" in refused(nobody, "http://127.0.0.1:9/votes.csv")


@pytest.mark.parametrize("limit", ["TOTAL_SECONDS", "IDLE_SECONDS"])
def test_an_answer_that_trickles_or_stops(monkeypatch, web: Site, below: AllowedSources, limit: str) -> None:
    monkeypatch.setattr(remote, limit, 0.5 if limit == "TOTAL_SECONDS" else 0.02)
    started = time.monotonic()
    assert "slow.csv did not arrive in time" in refused(below, f"{web.url}/data/slow.csv")
    assert time.monotonic() - started < 20


def test_an_answer_without_end(monkeypatch, web: Site, below: AllowedSources) -> None:
    monkeypatch.setattr(containers, "MAX_BYTES", 3_000_000)
    assert "endless.csv is larger than" in refused(below, f"{web.url}/data/endless.csv")


def test_other_protocols_below_a_prefix(monkeypatch) -> None:
    memory, team = fsspec.filesystem("memory"), "memory://team"
    memory.pipe("/team/annotations/votes.csv", VOTES)
    memory.pipe("/team/other/votes.csv", SECRET)
    try:
        allowed = AllowedSources(prefixes=(f"{team}/annotations/",))
        assert allowed.fetch(f"{team}/annotations/votes.csv").content == VOTES
        assert "is not at an address" in refused(allowed, f"{team}/other/votes.csv")
        assert "called '.' or '..'" in refused(allowed, f"{team}/annotations/../other/votes.csv")
        assert "not at that address" in refused(allowed, f"{team}/annotations/nowhere.csv")
        monkeypatch.setattr(containers, "MAX_BYTES", 5)
        assert "the most that is read" in refused(allowed, f"{team}/annotations/votes.csv")
    finally:
        memory.rm("/team", recursive=True)


def test_protocols_that_this_server_cannot_read() -> None:
    for prefix, sentence in (
        ("s3://x/", "s3:// needs the package s3fs: pip install s3fs"),
        ("nothing://x/", "its protocol is not known here"),
    ):
        assert sentence in refused(AllowedSources(prefixes=(prefix,)), f"{prefix}a.csv")


def test_whoever_runs_a_command_reads_any_path_and_address(web: Site, root: Path) -> None:
    expected = read_table(VOTES, "votes.csv")
    web.redirects["/moved.csv"] = "/data/votes.csv"
    web.files["/data/votes.csv?version=2"] = VOTES
    path, url = root / "may" / "votes.csv", f"{web.url}/data/votes.csv"
    for source in (str(path), url, f"{url}?version=2", path.as_uri()):
        table = read_anywhere(source)
        assert (table.name, table.sha256) == ("votes.csv", expected.sha256)
    assert read_anywhere(f"{web.url}/moved.csv").sha256 == expected.sha256
    with pytest.raises(DataError, match="does not exist"):
        read_anywhere(str(root / "nowhere.csv"))
    with pytest.raises(DataError, match="not at that address"):
        read_anywhere(f"{web.url}/nowhere.csv")


def test_a_folder_of_parquet_files_at_an_address_is_one_table(tmp_path: Path) -> None:
    for name, labels in (("a", ["Yes", "No"]), ("more/b", ["No"])):
        raters = [f"r{k}{name}" for k in range(len(labels))]
        file = tmp_path / "votes" / f"{name}.parquet"
        write_parquet(file, item=["i1"] * len(labels), rater=raters, label=labels)
    (tmp_path / "empty").mkdir()
    table, here = (read_anywhere(one(tmp_path / "votes")) for one in (Path.as_uri, str))
    assert (table.name, table.sha256, table.bytes) == (here.name, here.sha256, here.bytes)
    assert table.frame().equals(here.frame())
    with pytest.raises(DataError, match=r"without \*\.parquet files"):
        read_anywhere((tmp_path / "empty").as_uri())
