"""Figures as files, read back."""

import io
import struct
from xml.etree import ElementTree

import pytest
from pypdf import PdfReader

from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.remark import said
from grasp_core.report.charts.theme import EXPORT_WIDTH, chart_text, drawn, to_svg
from tests.report.charts.drawn import CHARTS
from tests.report.hostile import TEXTS
from tests.results import make_group, make_outcome, make_result

FORBIDDEN = {"/JavaScript", "/JS", "/OpenAction", "/AA", "/URI", "/Launch", "/EmbeddedFiles", "/Annots"}


def read(chart):
    """The one page of a chart's PDF."""
    reader = PdfReader(io.BytesIO(drawn(chart_text(chart), "pdf")))
    (page,) = reader.pages
    assert not FORBIDDEN & {*page, *reader.trailer["/Root"]}
    return page


@pytest.mark.parametrize(("name", "theme"), list(zip(CHARTS, ["light", "dark", "light"], strict=True)))
def test_png_svg_and_pdf(name, theme):
    chart = CHARTS[name](make_result(), theme)
    image = drawn(chart_text(chart), "png")
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", image[16:24])
    assert width == pytest.approx(2 * EXPORT_WIDTH, abs=20)
    assert height > 200
    root = ElementTree.fromstring(to_svg(chart))
    assert root.tag.endswith("svg")
    assert "White, Man" in " ".join(root.itertext())
    background = {"light": "#FFFFFF", "dark": "#12181A"}[theme]
    assert any(element.get("fill", "").upper() == background for element in root.iter())
    page = read(chart)
    assert float(page.mediabox.width) == pytest.approx(EXPORT_WIDTH, abs=10)
    assert "White, Man" in " ".join(page.extract_text().split())


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize(
    "groups",
    [
        (),
        (make_group(gai=Outcome(None, reason=said("r")), irr=Outcome(None), xrr=Outcome(None)),),
        (make_group(gai=make_outcome(1.0, "up"), irr=Outcome(0.2), xrr=Outcome(0.2)),),
        (make_group(gai=Outcome(1.1), irr=Outcome(0.2), xrr=Outcome(0.2)),),
    ],
    ids=["no group", "none estimable", "one group", "no null"],
)
def test_degenerate_results_render(name, groups):
    assert to_svg(CHARTS[name](make_result(groups), "light")).startswith("<svg")


@pytest.mark.parametrize("name", CHARTS)
def test_hostile_names_are_only_drawn(name):
    outcomes = {"gai": make_outcome(1.2, "up", "**"), "irr": Outcome(0.2), "xrr": Outcome(0.1)}
    texts = [text for text in TEXTS if text.isprintable() and len(text) < 100]
    texts.append("<script>alert(2)</script> & 'x' \"y\" \\ {datum.x}")
    chart = CHARTS[name](make_result(tuple(make_group(text, axis="<b>", **outcomes) for text in texts)))
    assert "<script>alert(1)</script>" in " ".join(read(chart).extract_text().split())
    image = to_svg(chart)
    assert "<script" not in image
    ElementTree.fromstring(image)
