"""The table of label use: numbers that sort, in words and colour which are marked."""

from streamlit.testing.v1 import AppTest


def page() -> None:
    from pages._ui.result.cache import show_label_table
    from tests.results import make_group, make_label_use, make_result, with_label_use

    uses = make_label_use({"No": 12.04, "Yes": -12.04}, "**"), make_label_use({"No": -1.0, "Yes": 1.0})
    rows = [with_label_use(make_group(name), use) for name, use in zip(("A", "B"), uses, strict=True)]
    show_label_table(make_result(rows), "light")


def test_points_p_and_q_are_numbers() -> None:
    app = AppTest.from_function(page, default_timeout=60).run()
    assert not app.exception
    table = app.dataframe[0].value
    assert table["No"].tolist() == [12.0, -1.0]
    assert table["q"].dtype == float
    assert table["q"].min() >= 0.0001
    assert table["Marked"].tolist() == ["after correction", ""]


def means_page() -> None:
    from dataclasses import replace

    from grasp_core.model.outcome import Shift
    from pages._ui.result.groups import show_means
    from tests.results import make_group, make_label_use, make_result, with_label_use

    use = replace(make_label_use({"1": 12.0, "2": -12.0}), mean=Shift(-0.12, -0.2, -0.04, p=0.003))
    show_means(make_result((with_label_use(make_group("A"), use),)))
    show_means(make_result())


def test_the_shift_of_the_mean_is_a_table_where_labels_have_one() -> None:
    app = AppTest.from_function(means_page, default_timeout=60).run()
    assert not app.exception
    (table,) = app.dataframe
    assert table.value.to_numpy().tolist() == [["gender", "A", "−0.120", "[−0.200, −0.040]"]]
