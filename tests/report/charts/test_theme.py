"""Figures as files, read back."""

import io
import re
import struct
from collections.abc import Callable
from xml.etree import ElementTree

import altair as alt
import pytest
from pypdf import PdfReader

from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.remark import said
from grasp_core.model.result import RunResult
from grasp_core.report.charts.forest import forest_plot
from grasp_core.report.charts.histograms import group_histograms
from grasp_core.report.charts.theme import EXPORT_WIDTH, chart_text, drawn, spec_of, to_svg
from tests.report.charts.drawn import CHARTS, COLOURS, encodings
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


ALL = {**CHARTS, "forest": lambda found, theme="light": forest_plot(found, "gai", theme)}


@pytest.fixture(scope="module")
def quiet() -> RunResult:
    """Two groups of which nothing is marked."""
    alike = {name: make_outcome(0.5, "up") for name in ("irr", "xrr", "gai")}
    return make_result((make_group("A", **alike), make_group("B", **alike)), statistics=tuple(alike))


@pytest.mark.parametrize("name", ALL)
def test_a_symbol_has_a_name_or_is_hidden(name: str, quiet: RunResult) -> None:
    svg = to_svg(ALL[name](quiet))
    symbols = re.findall(r'<\w+ [^>]*role="graphics-symbol"[^>]*>', svg)
    assert symbols
    assert [symbol for symbol in symbols if "aria-label=" not in symbol] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ALL)
def test_significance_has_its_colour_its_shape_and_one_legend(name: str, theme: str) -> None:
    chart = ALL[name](make_result(), theme)
    domain = ["after correction", "may be luck", "not significant"]
    colours, shapes = encodings(chart, "color"), encodings(chart, "shape")
    assert shapes
    assert all(one["scale"] == {"domain": domain, "range": COLOURS[theme]} for one in colours)
    range_ = ["diamond", "triangle-up", "circle"]
    assert all(one["scale"] == {"domain": domain, "range": range_} for one in shapes)
    assert {str(one["legend"]) for one in colours} == {str(one["legend"]) for one in shapes}


@pytest.mark.parametrize(
    "draw", [*ALL.values(), lambda result: group_histograms(result, result.groups[0])], ids=[*ALL, "group"]
)
def test_the_same_as_altairs(draw: Callable[[RunResult], alt.LayerChart]) -> None:
    chart = draw(make_result())
    spec = spec_of(chart)
    assert spec == draw(make_result()).to_dict()
    assert spec_of(chart) == spec
    assert len(spec["layer"]) > 1
