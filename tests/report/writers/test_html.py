import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from grasp_core.model.outcome import Interval, Outcome, Shift
from grasp_core.model.remarks.remark import said
from grasp_core.model.result import RunResult
from grasp_core.report.contents import brackets, not_estimable
from grasp_core.report.models import answer as answer_of_models
from grasp_core.report.words.names import SIDE_WORDS
from grasp_core.report.writers._html_page import models_html, report_html
from tests.made_up import make_models
from tests.report.hostile import hostile_result
from tests.results import (
    PAPER_STATISTICS,
    judged,
    make_group,
    make_label_use,
    make_outcome,
    make_result,
    with_label_use,
    with_pairs,
    with_slices,
)

TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "nav", "section"),
    *("h1", "h2", "h3", "h4", "p", "a"),
    *("ul", "li", "dl", "dt", "dd", "strong", "bdi", "span", "div", "pre", "details", "summary"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("img", "picture", "source"),
}
EMPTY = {"meta", "img", "source"}


class Document(HTMLParser):
    """Tags, attributes and texts of a document; elements must close in order."""

    def __init__(self, markup):
        super().__init__()
        self.open, self.tags, self.texts, self.ids, self.headings = [], [], [], [], []
        self.feed(markup)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for key, value in attrs if key == "id"]
        if re.fullmatch(r"h\d", tag):
            self.headings.append(int(tag[1]))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def without_one_gai() -> RunResult:
    rows = list(make_result().groups)
    missing = Outcome(None, reason=said("XRR is not above 0"))
    rows[0] = replace(rows[0], statistics={**rows[0].statistics, "gai": missing})
    return make_result(tuple(rows), warnings=("Small groups: 1.",))


@pytest.fixture(scope="module")
def markup():
    return report_html(without_one_gai())


@pytest.fixture(scope="module")
def document(markup):
    return Document(markup)


@pytest.fixture(scope="module")
def hostile():
    return report_html(hostile_result())


def test_it_says_everything(document):
    for words in (
        "Q_overall by age, gender, race, race × gender",
        "label 'Q_overall': 36,400 annotations of 350 items by 104 raters (",
        "10,000 random groupings · GRASP 0.1.0",
        "White Man raters agree with each other more",
        "1.262 ↑** above random groupings, after correction",
        "0.540 ↓* below random groupings, may be luck",
        *not_estimable(without_one_gai()),
        "GAI = IRR / XRR",
        "10,000 shuffles of whole rater profiles over all raters; seed 1.",
        "Small groups: 1.",
        "dices350.csv 1,000 " + "0" * 64,
        '"format": "grasp-spec"',
        "grasp run --spec spec.json --annotations dices350.csv",
    ):
        assert words in document.text


def test_what_findings_are_made_of_is_drawn_and_the_rest_told_in_numbers(document):
    figures = [attributes for tag, attributes in document.tags if tag == "img"]
    assert all(
        figure["src"].startswith("data:image/svg+xml;base64,") and len(figure["alt"]) > 50
        for figure in figures
    )
    names = [figure["alt"].split(" ")[0] for figure in figures]
    assert names == ["Diversity", "Scatter", "Histograms"]
    assert "Histograms of GAI" in figures[-1]["alt"]
    assert "The other statistics in numbers" in document.text
    assert "XRR of every group against random groupings" in document.text


def test_groups_by_verdict_are_drawn_for_phones_too():
    clear = judged(make_group("Woman"), "clear", "labels")
    document = Document(report_html(make_result((clear, make_group("Man")))))
    (phones,) = (attributes for tag, attributes in document.tags if tag == "source")
    wide = next(attributes for tag, attributes in document.tags if tag == "img")
    assert phones["media"] == "screen and (max-width: 42rem)"
    assert phones["srcset"] != wide["src"]


def test_groups_of_few_raters_are_named_below_the_figures_that_leave_them_out():
    first, *others = make_result().groups
    document = Document(report_html(make_result((replace(first, n_raters=4), *others))))
    assert document.text.count("Not drawn, of fewer than 5 raters: gen x+ (4); all numbers stand") == 2


def test_label_use_has_a_section_with_figures_and_numbers():
    use = replace(make_label_use({"No": 12.0, "Yes": -9.0, "?": -3.0}, "**"), mean=Shift(0.5, p=0.2))
    rows = tuple(with_label_use(row, use) for row in make_result().groups[:2])
    document = Document(report_html(make_result(rows, level="interval")))
    for words in (
        "” 12 points more often than the others on the same items [4, 20]; p < 0.001",
        "gen x+ age No +12.0 [+4.0, +20.0] none < 0.001 < 0.001 **",
        "gen z: Their labels lie 0.50 points of the scale higher on average than the others’ on the same "
        "items.",
    ):
        assert words in document.text
    figures = [attributes["alt"] for tag, attributes in document.tags if tag == "img"]
    assert sum("“No” with its 95 % interval for 2 groups" in figure for figure in figures) == 1
    assert len(figures) == 3 + 3


def test_headings_in_order_ids_once_and_tables_with_captions(document):
    assert document.headings[0] == 1
    assert document.headings.count(1) == 1
    assert all(
        after <= before + 1 for before, after in zip(document.headings, document.headings[1:], strict=False)
    )
    assert len(document.ids) == len(set(document.ids))
    targets = {attributes["href"] for tag, attributes in document.tags if tag == "a"}
    assert targets == {f"#{name}" for name in document.ids if f"#{name}" in targets}
    tags = [tag for tag, _ in document.tags]
    assert tags.count("table") == tags.count("caption") == 2 + len(PAPER_STATISTICS) + 3
    scopes = [attributes.get("scope") for tag, attributes in document.tags if tag == "th"]
    assert set(scopes) == {"col", "row"}


def test_it_needs_and_runs_nothing(markup, hostile):
    assert len(markup.encode()) < 1_500_000
    for text in (markup, hostile):
        document = Document(text)
        assert {tag for tag, _ in document.tags} <= TAGS
        for _, attributes in document.tags:
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
            for source in ("src", "srcset"):
                assert attributes.get(source, "data:image/svg+xml;").startswith("data:image/svg+xml;")
            assert attributes.get("href", "#").startswith("#")
        assert [part for part in re.findall(r"url\(([^)]*)\)", text) if not part.startswith("#")] == []
        assert "@import" not in text
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', markup)[1]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:;")


def test_hostile_text_shows_as_itself(hostile):
    document = Document(hostile)
    assert "<script>alert(1)</script>" in document.text
    assert "</style></title></pre><!--" in document.text
    assert "\u202e" not in hostile
    assert "\x00" not in hostile
    assert "abc[U+202E]dcba[U+2066]x" in document.text


def test_degenerate_results():
    for groups in ((), (make_group(gai=Outcome(None, reason=said("r"))),), (make_group(gai=Outcome(1.0)),)):
        Document(report_html(make_result(groups, statistics=("gai",), dsi=())))
    one = make_group(irr=make_outcome(0.2, "up"))
    assert "This run reports no DSI." in report_html(make_result((one,), statistics=("irr",)))
    result = make_result(make_result().groups[:3], statistics=("irr",))
    assert report_html(result) == report_html(result)


@pytest.mark.browser
@pytest.mark.parametrize(
    ("kind", "scheme", "width"),
    [
        pytest.param("plain", "light", 1280, marks=pytest.mark.long),
        pytest.param("plain", "dark", 390, marks=pytest.mark.long),
        pytest.param("hostile", "light", 390, marks=pytest.mark.long),
        ("hostile", "dark", 1280),
    ],
)
def test_in_a_browser(browser, markup, hostile, tmp_path, kind, scheme, width):
    from axe_playwright_python.sync_playwright import Axe

    path = tmp_path / "report.html"
    path.write_text({"plain": markup, "hostile": hostile}[kind], encoding="utf-8")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    requests, complaints = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
    page.goto(path.as_uri())
    assert requests == [path.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.querySelectorAll('script, iframe, link, object').length") == 0
    assert page.evaluate("[...document.images].every(image => image.naturalWidth > 0)")
    page.evaluate("document.querySelectorAll('details').forEach(element => { element.open = true })")
    found = Axe().run(page).response["violations"]
    assert [item["id"] for item in found if item["impact"] in ("serious", "critical")] == []
    assert complaints == []
    context.close()


@pytest.mark.browser
def test_on_paper(browser, markup, tmp_path):
    pypdf = pytest.importorskip("pypdf")
    path = tmp_path / "report.html"
    path.write_text(markup, encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.pdf(path=tmp_path / "report.pdf", prefer_css_page_size=True)
    page.close()
    pages = pypdf.PdfReader(tmp_path / "report.pdf").pages
    assert 10 < len(pages) < 25
    assert pages[0].mediabox.width > pages[0].mediabox.height
    assert "Wh" in pages[0].extract_text()


def test_pairs_and_slices_have_sections_with_figures_and_every_number():
    document = Document(report_html(with_pairs()))
    text = " ".join(document.texts)
    assert "Groups two by two" in text
    assert "14 points more often than " in text
    assert "Pairs of groups, each with its raters" in text
    assert {"pairs"} <= set(document.ids)
    assert {tag for tag, _ in document.tags} <= TAGS
    document = Document(report_html(with_slices()))
    assert "Slices by topic" in document.text
    assert "On topic = news (20 items), Woman raters (n = 12) " in document.text
    assert "Every group on the items of each value of topic" in document.text
    assert "Woman news 20 gender" in document.text
    figures = [attributes["alt"] for tag, attributes in document.tags if tag == "img"]
    assert [figure for figure in figures if "news" in figure and "0.400" in figure]
    assert {tag for tag, _ in document.tags} <= TAGS
    assert len(document.ids) == len(set(document.ids))
    found = replace(with_slices(), pairs=with_pairs().pairs)
    text = report_html(found)
    assert "<caption>Everything of every pair of groups</caption>" in text
    assert "<caption>Label use by topic</caption>" in text
    for caption in ("Everything of every pair of groups", "Every statistic by topic", "Label use by topic"):
        head = text.split(f"<caption>{caption}</caption>")[1].split("</thead>")[0]
        of = " of all labels" if caption == "Label use by topic" else ""
        assert all(f">{name}</th>" in head for name in ("95 % interval", f"p{of}", f"q{of}")), caption
    assert brackets(found.spec.analysis) in text
    first, *rest = make_result().groups
    gai = replace(first.statistics["gai"], interval=Interval(0.9, 1.1, "both"))
    first = replace(first, statistics={**first.statistics, "gai": gai})
    document = Document(report_html(make_result((first, *rest))))
    assert re.search(r"gen x\+ 0\.975 [^[]*\[0\.900, 1\.100\]", document.text)


def test_an_analysis_of_models_is_a_report_too():
    text = models_html(make_models(("<b>one", "two\u202e")))
    document, told = Document(text), answer_of_models(make_models(("<b>one", "two[U+202E]")))
    every = "".join(document.text.split())
    for words in (told.headline.plain, *(one.plain for one in told.details), "All raters together"):
        assert "".join(words.split()) in every
    assert "\u202e" not in text
    assert {tag for tag, _ in document.tags} <= TAGS
    assert [attributes["alt"][:8] for tag, attributes in document.tags if tag == "img"] == ["Macro-F1"]
    tags = [tag for tag, _ in document.tags]
    assert tags.count("table") == tags.count("caption") == 1 + len(SIDE_WORDS) + 3
