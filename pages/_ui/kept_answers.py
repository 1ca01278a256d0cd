"""Answers about models that are kept: found again at their address, listed, renamed and deleted."""

from __future__ import annotations

import streamlit as st

from grasp_core import server
from grasp_core.errors import StoreError
from grasp_core.raft.raters.result import ModelsResult
from grasp_core.raft.raters.sentences import answer_title
from grasp_core.report.text import escape_markdown
from grasp_core.store.documents import DocumentRecord
from pages._ui.answer import show_facts
from pages._ui.confirming import confirm
from pages._ui.models_answer import show_answer
from pages._ui.permissions import may_manage, require_manage, require_run
from pages._ui.sharing import share_answer
from pages._ui.times import told

SAVED = "saved"
"""In the address: the answer that the page shows."""
_PER_PAGE = 10
_TITLE_LENGTH = 200
_TITLE = "answer-title"


def keep_answer(result: ModelsResult) -> str | None:
    """Keep what was computed; returns its id, or None after saying why it could not be kept."""
    owner = require_run().id
    documents = server.shared().documents
    try:
        return documents.keep("models", result.to_dict(), title=answer_title(result), owner=owner).id
    except StoreError as error:
        st.warning(escape_markdown(f"The answer could not be kept, so take it with you. {error}"))
        return None


def open_answer(document_id: str | None) -> None:
    """Go to the page of an answer that was kept."""
    if document_id is not None:
        st.switch_page("models.py", query_params={SAVED: document_id})


def show_new(result: ModelsResult, document_id: str | None) -> None:
    """The answer to the question on the page; the address becomes that of its document."""
    document = server.shared().documents.get(document_id) if document_id else None
    if document is None:
        _close()
        show_answer(result)
        return
    _open(document.id)
    _show(document, result)


def show_kept(document_id: str) -> None:
    """A kept answer, without its question."""
    documents = server.shared().documents
    document, content = documents.get(document_id), documents.content(document_id)
    st.button("Ask about other models", icon=":material/arrow_back:", on_click=_close)
    if document is None or document.kind != "models" or content is None:
        st.warning(
            "This answer is not on this server: the link may be incomplete, or the answer has been deleted."
        )
        return
    _show(document, ModelsResult.from_dict(content))


def _show(document: DocumentRecord, result: ModelsResult) -> None:
    st.header(escape_markdown(document.title))
    show_facts(result)
    st.caption(escape_markdown(_kept(document)))
    with st.container(horizontal=True):
        share_answer(document, result)
        _edit(document, "answer")
    show_answer(result)


def list_kept() -> None:
    """The answers on this server, latest first; nothing where there are none."""
    found = server.shared().documents.all("models")
    if not found:
        return
    with st.expander(f"Kept answers ({len(found):,})", icon=":material/history:"):
        pages = -(-len(found) // _PER_PAGE)
        page = min(st.session_state.get("answers-page", 1), pages)
        for document in found[(page - 1) * _PER_PAGE : page * _PER_PAGE]:
            with st.container(border=True, key=f"answer-{document.id}", gap="xsmall"):
                with st.container(horizontal=True, vertical_alignment="center"):
                    st.button(
                        escape_markdown(document.title),
                        key=f"open-{document.id}",
                        icon=":material/balance:",
                        type="tertiary",
                        on_click=_open,
                        args=(document.id,),
                    )
                    _edit(document, "list")
                    _delete(document)
                st.caption(escape_markdown(_kept(document)))
        if pages > 1:
            st.pagination(pages, key="answers-page")


def _kept(document: DocumentRecord) -> str:
    by = f"asked by {document.owner}, " if document.owner else ""
    return f"{by}kept {told(document.created_at)}"


def _open(document_id: str) -> None:
    st.query_params[SAVED] = document_id


def _close() -> None:
    st.query_params.pop(SAVED, None)


def _edit(document: DocumentRecord, place: str) -> None:
    if may_manage(document.owner) and st.button(
        "Rename",
        key=f"edit-{place}-{document.id}",
        icon=":material/edit:",
        help="Strangers see the title, too",
    ):
        _edit_dialog(document)


def _delete(document: DocumentRecord) -> None:
    if may_manage(document.owner) and st.button(
        "Delete", key=f"delete-{document.id}", icon=":material/delete:", help="Asks first"
    ):
        _delete_dialog(document)


@st.dialog("Rename this answer", width="medium")
def _edit_dialog(document: DocumentRecord) -> None:
    st.text_input("Title", document.title, max_chars=_TITLE_LENGTH, key=f"{_TITLE}-{document.id}")
    icon = ":material/check:"
    if st.button("Save", type="primary", icon=icon, on_click=_rename, args=(document,)):
        st.rerun()


def _rename(document: DocumentRecord) -> None:
    require_manage(document.owner)
    title = st.session_state[f"{_TITLE}-{document.id}"].strip()
    server.shared().documents.rename(document.id, title or document.title)


@st.dialog("Delete this answer?", width="medium")
def _delete_dialog(document: DocumentRecord) -> None:
    st.markdown(f"**{escape_markdown(document.title)}**")
    st.warning(
        "It is deleted for everybody, and cannot be brought back. Links to it stop working, and addresses "
        "that people noted lead nowhere then.",
        icon=":material/warning:",
    )
    confirm(_remove, document)


def _remove(document: DocumentRecord) -> None:
    require_manage(document.owner)
    server.shared().documents.delete(document.id)
    if st.query_params.get(SAVED) == document.id:
        _close()
