"""A browser tab without a browser: Streamlit's own protocol, as its pages speak it."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

XSRF = "_streamlit_xsrf"
PATIENCE_S = 60


@dataclass
class Tab:
    """A tab that has been opened."""

    web: httpx.Client
    socket: ClientConnection
    session: str = ""
    seen: list[ForwardMsg] = field(default_factory=list)

    def say(self, message: BackMsg) -> None:
        self.socket.send(message.SerializeToString())

    def show(self, page: str = "", *widgets: WidgetState, query: str = "") -> list[ForwardMsg]:
        """Run a page; what it drew."""
        message = BackMsg()
        message.rerun_script.page_name = page
        message.rerun_script.query_string = query
        message.rerun_script.widget_states.widgets.extend(widgets)
        self.say(message)
        self.seen = []
        while True:
            data = self.socket.recv(PATIENCE_S)
            assert isinstance(data, bytes)
            answer = ForwardMsg.FromString(data)
            self.seen.append(answer)
            if answer.WhichOneof("type") == "new_session":
                self.session = answer.new_session.initialize.session_id
            if answer.WhichOneof("type") == "script_finished":
                if answer.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                    return self.seen
                self.seen = []

    def text(self) -> str:
        """All that the page drew."""
        return " ".join(str(message.delta) for message in self.seen)

    def opening(self) -> list[WidgetState]:
        """Every menu and section of the page, open."""
        blocks = [answer.delta.add_block for answer in self.seen]
        ids = [
            getattr(one, kind).id
            for one in blocks
            for kind in ("popover", "expandable")
            if one.HasField(kind)
        ]
        return [WidgetState(id=one, bool_value=True) for one in ids if one]

    def downloads(self) -> dict[str, str]:
        """The files that the page offers and makes when they are asked for: their ids, by label."""
        buttons = [answer.delta.new_element.download_button for answer in self.seen]
        return {one.label: one.deferred_file_id for one in buttons if one.deferred_file_id}

    def download(self, file_id: str) -> bytes | str:
        """A file that is made now; what is told in its place where it is not."""
        message = BackMsg()
        message.backend_operation_request.request_id = file_id
        message.backend_operation_request.session_id = self.session
        message.backend_operation_request.deferred_file.file_id = file_id
        self.say(message)
        while True:
            data = self.socket.recv(PATIENCE_S)
            assert isinstance(data, bytes)
            answer = ForwardMsg.FromString(data).backend_operation_response
            if answer.request_id == file_id:
                url = answer.deferred_file.url
                return self.web.get(url).raise_for_status().content if url else answer.error_msg

    def alerts(self) -> list[str]:
        return [
            answer.delta.new_element.alert.body
            for answer in self.seen
            if answer.delta.new_element.WhichOneof("type") == "alert"
        ]

    def uploader(self) -> str:
        """Id of the page's first file uploader."""
        return next(
            answer.delta.new_element.file_uploader.id
            for answer in self.seen
            if answer.delta.new_element.WhichOneof("type") == "file_uploader"
        )

    def upload(self, content: bytes, file: str = "file", session: str | None = None) -> httpx.Response:
        return self.web.put(
            f"/_stcore/upload_file/{session or self.session}/{file}",
            files={"file": (file, content)},
            headers={"X-Xsrftoken": self.web.cookies[XSRF]},
        )

    def holding(self, *files: str) -> WidgetState:
        """The page's first file uploader, with files in it."""
        state = WidgetState(id=self.uploader())
        for file in files:
            one = state.file_uploader_state_value.uploaded_file_info.add(file_id=file, name=file)
            one.file_urls.file_id = file
        return state


@contextmanager
def tab(
    url: str, page: str = "", signed_in: httpx.Client | None = None, public_url: str = ""
) -> Iterator[Tab]:
    """Open a page of a server, with the cookies of somebody who has signed in.

    `public_url` is the address in the browser, where a proxy chooses the server.
    """
    with httpx.Client(base_url=url, timeout=PATIENCE_S, verify=False) as web:  # http: no certificates to load
        web.cookies = httpx.Cookies(None if signed_in is None else signed_in.cookies)
        web.get("/_stcore/health")
        parts, server = urlsplit(public_url or url), urlsplit(url)
        with connect(
            f"ws://{parts.netloc}{parts.path}/_stcore/stream",
            origin=Origin(f"http://{parts.netloc}"),
            subprotocols=[Subprotocol("streamlit"), Subprotocol(web.cookies[XSRF])],
            open_timeout=PATIENCE_S,
            additional_headers={
                "Cookie": "; ".join(f"{name}={value}" for name, value in web.cookies.items())
            },
            max_size=None,
            sock=socket.create_connection((server.hostname or "", server.port or 0)),
        ) as connection:
            opened = Tab(web, connection)
            opened.show(page)
            yield opened
