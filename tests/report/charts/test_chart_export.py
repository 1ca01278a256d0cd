import struct
from xml.etree import ElementTree

import pytest

from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.remark import said
from grasp_core.report.charts.theme import chart_text, drawn, to_svg
from tests.report.charts.drawn import CHARTS
from tests.results import make_group, make_outcome, make_result


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", CHARTS)
def test_png_and_svg(name, theme):
    chart = CHARTS[name](make_result(), theme)
    image = drawn(chart_text(chart, 800), "png", 1)
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", image[16:24])
    assert 790 <= width <= 810
    assert height > 100
    root = ElementTree.fromstring(to_svg(chart))
    assert root.tag.endswith("svg")
    words = " ".join(root.itertext())
    assert "White, Man" in words
    background = {"light": "#FFFFFF", "dark": "#12181A"}[theme]
    assert any(element.get("fill", "").upper() == background for element in root.iter())


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
