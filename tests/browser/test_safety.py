import urllib.request

from tests.browser.conftest import OpenPage
from tests.browser.visits import (
    bring,
    drop,
    go_on_to_analysis,
    picture,
    results,
    run,
    set_number,
    settle,
    view,
)
from tests.labels import DROP_FILES

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script> :red[x] $y^2$ [l](javascript:alert(3))"


def test_every_response_carries_the_headers(url: str) -> None:
    for path in ("/", "/results?run=x", "/_stcore/health", "/nowhere"):
        with urllib.request.urlopen(url + path) as answer:
            headers = answer.headers
        policy = headers["Content-Security-Policy"]
        assert "unsafe-eval" not in policy
        assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]
        assert "frame-ancestors 'self'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "SAMEORIGIN"
        assert headers["Referrer-Policy"] == "no-referrer"


def test_hostile_names_do_not_execute(open_page: OpenPage, example: dict[str, bytes]) -> None:
    quoted = f'"{HOSTILE}"'.encode()
    annotations = example["annotations.csv"].replace(b",Unsure", b"," + quoted)
    raters = example["raters.csv"].replace(b",Black,", b"," + quoted + b",")
    page = open_page("/data")
    bring(page, annotations, raters)
    page.get_by_text("First rows of the files").click()
    page.locator('[aria-label="First rows of annotations.csv"]').wait_for()
    settle(page)
    assert page.locator("[data-testid=stMain] img").count() == 0
    go_on_to_analysis(page)
    set_number(page, "Permutations", 1000)
    run(page)
    results(page)
    for name in ("Findings", "Groups in numbers"):
        view(page, name)
        assert page.locator("[data-testid=stMain] img").count() == 0
        assert page.locator("[data-testid=stMain] script").count() == 0
        assert page.locator("a[href^='javascript']").count() == 0
    assert HOSTILE in page.get_by_test_id("stMain").inner_text().replace("\u2060", "")
    picture(page, "hostile")


def test_a_hostile_file_name_stays_text(open_page: OpenPage) -> None:
    page = open_page("/data")
    drop(page, DROP_FILES, "<img src=x onerror=alert(1)>.csv", b"a,b\n1,2\n")
    page.get_by_role("alert").wait_for()
    assert page.locator("[data-testid=stMain] img").count() == 0
