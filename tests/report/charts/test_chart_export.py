import struct
from xml.etree import ElementTree

import pytest

from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.remark import said
from grasp_core.report.charts.bars import dsi_chart
from grasp_core.report.charts.histograms import null_histograms
from grasp_core.report.charts.maps import cohesion_map
from grasp_core.report.charts.theme import IMAGES, chart_text, drawn, to_svg
from tests.results import make_group, make_outcome, make_result

CHARTS = {
    "histograms": lambda result, theme: null_histograms(result, "gai", theme),
    "cohesion": cohesion_map,
    "dsi": dsi_chart,
}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", CHARTS)
def test_png(name, theme):
    image = drawn(chart_text(CHARTS[name](make_result(), theme), 800), "png", 1)
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", image[16:24])
    assert 790 <= width <= 810
    assert height > 100


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", CHARTS)
def test_svg(name, theme):
    root = ElementTree.fromstring(to_svg(CHARTS[name](make_result(), theme)))
    assert root.tag.endswith("svg")
    words = " ".join(root.itertext())
    assert "White, Man" in words
    background = {"light": "#FFFFFF", "dark": "#12181A"}[theme]
    assert any(element.get("fill", "").upper() == background for element in root.iter())


def test_pdf():
    assert IMAGES[".pdf"](dsi_chart(make_result())).startswith(b"%PDF")


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


def test_names_from_the_data_are_escaped_in_svg():
    name = "<script>alert(1)</script> & 'x' \"y\" \\ {datum.x}"
    row = make_group(name, axis="<b>", gai=make_outcome(1.2, "up", "**"), irr=Outcome(0.2), xrr=Outcome(0.2))
    for draw in CHARTS.values():
        image = to_svg(draw(make_result((row,)), "light"))
        assert "<script" not in image
        ElementTree.fromstring(image)
