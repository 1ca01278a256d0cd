"""When a statistic has no value."""

from __future__ import annotations

from grasp_core.remarks.remark import Remark


class NotEstimableError(ValueError):
    """The data do not determine the statistic; `reason` says why."""

    def __init__(self, reason: Remark) -> None:
        super().__init__(str(reason))
        self.reason = reason
