"""The figures as PDF, read back."""

import io

import pytest
from pypdf import PdfReader

from grasp_core.report.charts.theme import chart_text, drawn
from tests.report.charts.drawn import CHARTS
from tests.report.hostile import TEXTS
from tests.results import make_group, make_outcome, make_result

FORBIDDEN = {"/JavaScript", "/JS", "/OpenAction", "/AA", "/URI", "/Launch", "/EmbeddedFiles", "/Annots"}


def read(chart):
    reader = PdfReader(io.BytesIO(drawn(chart_text(chart, 800), "pdf")))
    (page,) = reader.pages
    assert not FORBIDDEN & {*page, *reader.trailer["/Root"]}
    return page


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", CHARTS)
def test_one_page_of_the_figures_size_with_its_text(name, theme):
    page = read(CHARTS[name](make_result(), theme))
    assert float(page.mediabox.width) == pytest.approx(800, abs=10)
    assert "White, Man" in " ".join(page.extract_text().split())


@pytest.mark.parametrize("name", CHARTS)
def test_hostile_names_are_only_drawn(name):
    outcomes = {"gai": make_outcome(1.2, "up", "**"), "irr": make_outcome(0.2, "up")}
    texts = [text for text in TEXTS if text.isprintable() and len(text) < 100]
    groups = tuple(make_group(text, xrr=make_outcome(0.1, "up"), **outcomes) for text in texts)
    words = " ".join(read(CHARTS[name](make_result(groups))).extract_text().split())
    assert "<script>alert(1)</script>" in words
