"""Export files of results, made in a process of their own and cached."""

import base64
import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import altair as alt

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.errors import DataError, LimitError
from grasp_core.model.json_values import to_json
from grasp_core.model.result import RunResult
from grasp_core.model.turns import Turns
from grasp_core.reading.sandbox.process import Helper
from grasp_core.reading.sandbox.read import call
from grasp_core.report.charts.theme import chart_text, check_can_draw
from grasp_core.report.writers.registry import EXPORTS, ResultExport
from grasp_core.report.writers.work import figure, written, written_of_models

EXPORTING = Turns("making files", at_once=2, each=1, waiting=8, waiting_each=3, patience=60)
TOO_LARGE = "This file takes more memory or time than one may have here; `grasp report` makes it elsewhere."
_MOST_BYTES = 2**26
_WRITERS = Helper("grasp_core.report.writers.work")


class ExportCache:
    """A cache of export files, shared by all who may see a result; people ask for files in a :meth:`turn`."""

    def __init__(self) -> None:
        self._made: OrderedDict[str, bytes] = OrderedDict()
        self._making: set[str] = set()
        self._changed = threading.Condition()

    def turn(self) -> AbstractContextManager[None]:
        """A turn at loading a result and making its file, since loading takes time too."""
        return EXPORTING.turn()

    def make(self, export: ResultExport, result: RunResult, rater_map: RaterMap | None = None) -> bytes:
        """The content of a file; see :meth:`~grasp_core.report.writers.registry.ResultExport.make`."""
        given = {"name": export.name, "result": to_json(result), "rater_map": to_json(rater_map)}
        return self._of(written, given, export.label)

    def make_of_models(self, name: str, result: ModelsResult) -> bytes:
        """The content of a file about models, by its name in `MODELS_EXPORTS`."""
        return self._of(written_of_models, {"name": name, "result": to_json(result)}, EXPORTS[name].label)

    def draw(self, chart: alt.LayerChart, kind: str) -> bytes:
        """A chart as a file."""
        check_can_draw(kind.upper())
        return self._of(figure, {"name": kind, "chart": chart_text(chart)}, f"figure ({kind.upper()})")

    def _of(self, work: Callable[..., str], given: dict[str, object], label: str) -> bytes:
        key = hashlib.sha256(json.dumps([work.__name__, given]).encode()).hexdigest()
        return self.once(key, lambda: _made(work, given, label))

    def once(self, key: str, make: Callable[[], bytes]) -> bytes:
        """The file of this key, made by the first who asks."""
        if (known := self._find(key)) is not None:
            return known
        with self._alone(key):
            known = self._find(key)  # the caller before may have made it
            return known if known is not None else self._keep(key, make())

    @contextmanager
    def _alone(self, key: str) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: key not in self._making)
            self._making.add(key)
        try:
            yield
        finally:
            with self._changed:
                self._making.remove(key)
                self._changed.notify_all()

    def _find(self, key: str) -> bytes | None:
        with self._changed:
            if key in self._made:
                self._made.move_to_end(key)
            return self._made.get(key)

    def _keep(self, key: str, content: bytes) -> bytes:
        with self._changed:
            self._made[key] = content
            while len(self._made) > 1 and self._size > _MOST_BYTES:
                self._made.popitem(last=False)
        return content

    @property
    def _size(self) -> int:
        """Bytes of all files; a file under two keys, such as its run and its content, counts once."""
        return sum({id(one): len(one) for one in self._made.values()}.values())


def _made(work: Callable[..., str], given: dict[str, object], label: str) -> bytes:
    try:
        return base64.b64decode(call(_WRITERS, work, given, {}, label))
    except DataError:
        raise LimitError(TOO_LARGE) from None
