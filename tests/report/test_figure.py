"""Figures of matplotlib: every kind of layer of every study is drawn, and no text is taken for a formula."""

import io
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.report.examples import EXAMPLES
from textassay.document.blocks import Chart, walk
from textassay.document.plot import Layer, Line, Marks, Plot, Point, Scale
from textassay.errors import InputError
from textassay.report.figure import figure
from textassay.report.picture import picture


def plots(seen: set[tuple[type[Layer], ...]]) -> Iterator[Plot]:
    """One plot of every combination of layers that the documents of all studies have."""
    for example in EXAMPLES.values():
        document = example().document()
        blocks = [block for section in document.sections for block in walk(section.blocks)]
        for block in blocks:
            if isinstance(block, Chart):
                kinds = tuple(sorted({type(layer) for layer in block.plot.layers}, key=str))
                if kinds not in seen:
                    seen.add(kinds)
                    yield block.plot


def drawn(found: Any) -> str:
    """The figure as SVG, with its texts as texts."""
    matplotlib = pytest.importorskip("matplotlib", reason="needs matplotlib")
    out = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        found.savefig(out, format="svg")
    return out.getvalue()


def test_every_combination_of_layers_is_drawn() -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    seen: set[tuple[type[Layer], ...]] = set()
    for plot in plots(seen):
        assert "<path" in drawn(figure([plot])), plot.title
    assert len(seen) > 5


def test_a_figure_has_the_values_and_names_of_its_plot() -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    points = (Point(0.2, 0, (0.1, 0.4), candidate=0, label="20 %"), Point(float("nan"), 1, candidate=1))
    names = (r"$\frac{1}", "_b <i>")
    plot = Plot("A $ title", Scale("share", percent=True, limits=(0.0, 1.0)), Scale(names=names), (Marks(points),))
    found = picture([plot, plot, plot], title="All").figure()
    assert len(found.axes) == 4
    axes = found.axes[0]
    assert axes.yaxis_inverted()
    assert axes.get_xlim()[0] <= 0.0
    assert axes.get_xlim()[1] >= 1.0
    assert axes.containers[0].lines[0].get_xdata() == 0.2
    shown = drawn(found)
    for text in ("A $ title", r"$\frac{1}", "_b &lt;i&gt;", "20 %"):
        assert text in shown


def test_a_curve_has_its_range() -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    line = Line(((1.0, 2.0), (10.0, 3.0)), ends=((1.0, 3.0), None), candidate=2, name="m")
    axes = figure([Plot("t", Scale(log=True, ticks=((1.0, "one"),)), Scale(reversed=True), (line,))]).axes[0]
    assert axes.get_xscale() == "log"
    assert axes.yaxis_inverted()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["m"]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["one"]


def test_without_matplotlib_the_message_names_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match="matplotlib is not installed; install it, or use the drawing's svg"):
        figure([Plot("t", Scale(), Scale(), ())])
