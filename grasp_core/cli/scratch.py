"""The scratch folder: keeps the blocks of an interrupted run for its next attempt."""

from __future__ import annotations

import contextlib
import copy
import io
from pathlib import PurePosixPath

import numpy as np

from grasp_core.engine.watching import Checkpoints
from grasp_core.model.annotations import FloatArray
from grasp_core.permutation.testing.tally import Tally
from grasp_core.reading.sources import remote

_MOST_BYTES = 2**26
"""Most bytes of blocks that are kept in memory in case somebody stops the run; of more, none are kept."""


class InCaseOfStop(Checkpoints):
    """Keeps a run's blocks in memory, to be written if it is stopped; all stages share `room`, in bytes."""

    def __init__(self, room: list[int] | None = None) -> None:
        self._tally: Tally | None = None
        self._blocks: list[tuple[int, FloatArray]] = []
        self._room = [_MOST_BYTES] if room is None else room
        self._too_large = False
        self._stages: dict[int, InCaseOfStop] = {}

    def of_stage(self, number: int) -> Checkpoints:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        return self._stages.setdefault(number, InCaseOfStop(self._room))

    def begin(self, tally: Tally) -> None:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        self._tally = tally

    def computed(self, start: int, values: FloatArray) -> None:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        counting = self._tally is not None and self._tally.counting
        if not (counting or self._too_large):
            self._blocks.append((start, values))
            self._room[0] -= values.nbytes
            self._too_large = self._room[0] < 0
        if counting or self._too_large:
            self._room[0] += sum(block.nbytes for _, block in self._blocks)
            self._blocks.clear()

    def keep(self, scratch: Scratch) -> bool:
        """Write all blocks or counts; return whether there was anything to write."""
        stages = [stage.keep(scratch.of_stage(number)) for number, stage in self._stages.items()]
        if self._tally is None or not (self._tally.counting or self._blocks):
            return any(stages)
        scratch.begin(self._tally)
        for start, values in self._blocks or [(0, np.empty((0, 0)))]:
            scratch.computed(start, values)
        return True


class Scratch(Checkpoints):
    """Keeps a run's blocks, or their counts, in a folder or at an address; unreadable ones are redone."""

    def __init__(self, folder: str, key: str) -> None:
        with remote.in_sentences(folder, "the scratch folder"):
            self._files, self._root = remote.file_system(folder)
            self._files.makedirs(self._root, exist_ok=True)
        self._name = f"{self._root.rstrip('/')}/grasp-{key[:32]}"
        self._tally: Tally | None = None

    def of_stage(self, number: int) -> Scratch:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        stage = copy.copy(self)
        stage._name, stage._tally = f"{self._name}.{number}", None
        return stage

    def counted_before(self) -> bytes | None:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        found = self._read(f"{self._name}.tally")
        return found or None

    def computed_before(self, width: int) -> list[tuple[int, FloatArray]]:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        blocks = []
        for path in self._kept():
            with contextlib.suppress(ValueError, EOFError):
                values = np.load(io.BytesIO(self._read(path)), allow_pickle=False)
                start = int(PurePosixPath(path).stem.rpartition("-")[2])
                blocks += [(start, values)] if values.ndim == 2 and values.shape[1] == width else []
        return blocks

    def begin(self, tally: Tally) -> None:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        self._tally = tally

    def computed(self, start: int, values: FloatArray) -> None:
        """See :class:`~grasp_core.engine.watching.Checkpoints`."""
        if self._tally is not None and self._tally.counting:  # its state includes all blocks
            self._write(f"{self._name}.tally", self._tally.state())
            self._remove(self._kept())
        else:
            file = io.BytesIO()
            np.save(file, values, allow_pickle=False)
            self._write(f"{self._name}-{start}.npy", file.getvalue())

    def forget(self) -> None:
        """Remove the kept files, once the run is done."""
        self._remove(self._kept("*"))

    def _kept(self, those: str = "-*.npy") -> list[str]:
        with remote.in_sentences(self._root, "the scratch folder"):
            self._files.invalidate_cache()
            return [str(path) for path in self._files.glob(f"{self._name}{those}")]

    def _read(self, path: str) -> bytes:
        with contextlib.suppress(Exception):  # every protocol's package has errors of its own
            return bytes(self._files.cat_file(path))
        return b""

    def _write(self, path: str, content: bytes) -> None:
        """Write a file as a whole or not at all: the earlier one stays until the new one is complete."""
        with contextlib.suppress(Exception):
            self._files.pipe_file(f"{path}.unfinished", content)
            self._files.mv(f"{path}.unfinished", path)

    def _remove(self, paths: list[str]) -> None:
        for path in paths:
            with contextlib.suppress(Exception):
                self._files.rm_file(path)
