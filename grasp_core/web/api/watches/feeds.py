"""Feeds of watches: made and withdrawn by people, read by programs that cannot sign in."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from grasp_core.access import EVERYONE, only
from grasp_core.report.small_groups.cover import LEAST
from grasp_core.server import Server
from grasp_core.store.watches.feeds import Feed as Stored
from grasp_core.store.watches.records import Watch
from grasp_core.watches.atom import MEDIA_TYPE, MOST, atom
from grasp_core.web.api.admission import Asking, Caller
from grasp_core.web.api.forms import Project
from grasp_core.web.api.once import Done, IdempotencyKey, once
from grasp_core.web.api.runs import PRIVATE, missing
from grasp_core.web.api.watches.forms import Feed, Feeds, MadeFeed, NewFeed

router = APIRouter(tags=["Watches"])

PATH = "/api/v1/feeds/atom.xml"
_ATOM: dict[int | str, dict[str, Any]] = {
    200: {"description": "The feed (RFC 4287)", "content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}
}


@router.get("/feeds/atom.xml", response_class=Response, responses=_ATOM)
def read_feed(
    request: Request,
    asking: Asking,
    token: Annotated[str, Query(max_length=200, description="As the feed's address has it.")] = "",
) -> Response:
    """A feed, for whoever has its address, as long as its maker sees the project; without small groups."""
    server = asking.server
    feed = server.feeds.use(token)
    if feed is None and token:
        server.rates.guess(asking.asker, token)
    person = None if feed is None else server.watching.person(feed.owner)
    if feed is None or person is None or not person.may_see(feed.project):
        raise missing("feed")
    home = server.settings.public_url or str(request.base_url).partition("/api/")[0].rstrip("/")
    stores = server.seen(only(feed.project))
    found = [
        (watch, server.history.steps(stores.watches, watch, least=LEAST, limit=MOST))
        for watch in _watches(server, feed)
    ]
    content = atom(feed, found, home=home, own=f"{home}{PATH}?token={token}")
    return Response(content, media_type=MEDIA_TYPE, headers=PRIVATE)


@router.get("/feeds")
def list_feeds(asking: Asking, project: Project = EVERYONE) -> Feeds:
    """Your feeds in a project; never their addresses."""
    found = asking.stores(project).feeds.of(asking.person.id)
    return Feeds(feeds=[Feed.of(one) for one in found])


@router.post("/feeds", status_code=HTTPStatus.CREATED, response_model=MadeFeed)
def make_feed(new: NewFeed, asking: Asking, idempotency_key: IdempotencyKey = None) -> Response:
    """Make a feed of one watch, or of all of yours in a project; made by a token, it ends with that."""
    token = asking.changing()
    return once(
        asking,
        idempotency_key,
        "POST /feeds",
        new.model_dump_json(),
        lambda: _make(asking, new, None if token is None else token.id),
        {"address": None},
    )


@router.delete("/feeds/{feed_id}", status_code=HTTPStatus.NO_CONTENT)
def withdraw_feed(feed_id: str, asking: Asking) -> None:
    """Withdraw a feed of your own: its address leads nowhere from now on."""
    asking.changing()
    owner = asking.person.id
    if not asking.stores().feeds.withdraw(feed_id, owner=owner):
        raise missing("feed")
    asking.server.audit.record(owner, "withdraw", "feed", feed_id)


def _make(asking: Caller, new: NewFeed, made_by_token: str | None) -> Done:
    person = asking.person
    stores = asking.stores(new.project)
    if new.watch is not None and new.watch not in [watch.id for watch in stores.watches.all()]:
        raise missing("watch in this project")
    token = stores.feeds.create(owner=person.id, watch=new.watch, made_by_token=made_by_token)
    asking.server.audit.record(person.id, "share", "feed", "", {"watch": new.watch})
    address = f"{asking.server.settings.public_url}{PATH}?token={token}"
    return HTTPStatus.CREATED, MadeFeed(address=address)


def _watches(server: Server, feed: Stored) -> list[Watch]:
    store = server.watches.within(only(feed.project))
    if feed.watch is None:
        return store.all(owner=feed.owner)
    found = store.get(feed.watch)
    return [] if found is None else [found]
