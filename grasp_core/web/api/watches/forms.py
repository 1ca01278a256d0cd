"""What the API takes and gives of watches and feeds."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from grasp_core.access import EVERYONE
from grasp_core.store.watches import feeds, records
from grasp_core.watches import history, words
from grasp_core.web.api.forms import Form, at

Every = Literal["hourly", "daily", "weekly"]


class NewWatch(Form):
    """A run to watch."""

    run: str = Field(max_length=32, description="Id of a run that is done and whose files have addresses.")
    every: Every = "daily"


class ChangedWatch(Form):
    """What to change of a watch."""

    every: Every | None = None
    paused: bool | None = None


class Source(Form):
    """Where one of the files is."""

    kind: Literal["annotations", "raters", "items"]
    location: str


class Watch(Form):
    """A saved analysis that is run again when its files change."""

    id: str
    project: str
    title: str
    owner: str
    every: Every
    sources: list[Source]
    state: str = Field(description="One sentence for people.")
    paused: Literal["person", "failures", "rights", "run"] | None = Field(description="Why, where it is.")
    failures: int = Field(description="Looks that failed in a row.")
    problem: str | None = Field(description="Why the last one did.")
    created_at: datetime
    looked_at: datetime | None
    next_at: datetime
    last_run: str | None = Field(description="Id of the run that new data are held against.")
    going_run: str | None = Field(description="Id of the run of changed data, until it has ended.")

    @classmethod
    def of(cls, watch: records.Watch) -> Watch:
        """The form of a watch of the store."""
        return cls(
            id=watch.id,
            project=watch.project,
            title=watch.title,
            owner=watch.owner,
            every=watch.every,
            sources=[Source(kind=one.kind, location=one.location) for one in watch.sources],
            state=words.state(watch),
            paused=watch.paused,
            failures=watch.failures,
            problem=watch.problem,
            created_at=at(watch.created_at),
            looked_at=None if watch.looked_at is None else at(watch.looked_at),
            next_at=at(watch.next_at),
            last_run=watch.last_run,
            going_run=watch.going_run,
        )


class Watches(Form):
    """All watches of a project, latest first."""

    watches: list[Watch]


class Step(Form):
    """A run of a watch, and what changed since the one before."""

    number: int = Field(description="0 for the run that was watched.")
    run: str
    before: str | None = Field(description="Id of the run that it is held against.")
    at: datetime
    headline: str = Field(description="What changed, in a sentence.")
    details: list[str] = Field(description="One by one: data, values with intervals, marks, groups.")
    noise_alone: bool | None = Field(description="Whether all that moved can be noise; null where unknown.")

    @classmethod
    def of(cls, step: history.Step) -> Step:
        """The form of a step."""
        return cls(
            number=step.number,
            run=step.run_id,
            before=step.before,
            at=at(step.at),
            headline=step.headline,
            details=list(step.details),
            noise_alone=None if step.found is None else step.found.noise_alone,
        )


class WatchSteps(Form):
    """A watch and what came of it, latest first."""

    watch: Watch
    steps: list[Step]


class NewFeed(Form):
    """A feed to make."""

    project: str = Field(EVERYONE, max_length=32, description="Id of a project of yours.")
    watch: str | None = Field(None, max_length=32, description="One of its watches; null for all of yours.")


class Feed(Form):
    """A feed, without its address."""

    id: str
    project: str
    watch: str | None
    created_at: datetime
    last_used_at: datetime | None

    @classmethod
    def of(cls, feed: feeds.Feed) -> Feed:
        """The form of a feed of the store."""
        return cls(
            id=feed.id,
            project=feed.project,
            watch=feed.watch,
            created_at=at(feed.created_at),
            last_used_at=None if feed.last_used_at is None else at(feed.last_used_at),
        )


class Feeds(Form):
    """Your feeds in a project, latest first."""

    feeds: list[Feed]


class MadeFeed(Form):
    """A feed that was just made."""

    address: str | None = Field(description="Shown once: null where a request is answered again.")
