"""Leaderboards that were shared."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grasp_core.server.api._admission import Asking, check_link
from grasp_core.server.api._etags import NOT_AGAIN, TaggedJson
from grasp_core.server.api.forms import Found
from grasp_core.server.api.runs import PRIVATE, missing
from grasp_core.store.links import Target

router = APIRouter(tags=["Benchmark"])


@router.get("/leaderboards/{link_id}", response_model=Found, responses=NOT_AGAIN)
def read_leaderboard(link_id: str, asking: Asking) -> Response:
    """The leaderboard that the link of this id shows, as it was when the link was made."""
    check_link(asking, Target("leaderboard", link_id))
    found = asking.stores().links.leaderboard(link_id)
    if found is None:
        raise missing("leaderboard")
    return TaggedJson(found.content, headers=PRIVATE)
