"""Files that are built from: uploaded ones in a folder of the session, or a path; and who may see what they say."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import streamlit as st

from kgcore.errors import IngestError
from kgcore.viz import count, plain
from ui.resources import digest

PUBLIC = "group:public"
"""The principal of what everybody may see; a locked filter should hold it for all."""
_HELD = "uploaded_"
_STAMPED = 10_000  # files of a folder
_AS_IT_SAYS, _EVERYBODY, _THESE = "As the files say", f"Everybody ({PUBLIC})", "These principals alone"


@dataclass(frozen=True, kw_only=True)
class Files:
    """A file or a folder, and a stamp that differs once a file in it has changed.

    Uploaded ones are in a folder that is removed once nothing holds this any more.
    """

    path: Path
    stamp: str


def files(label: str, kind: str) -> Files | None:
    """The files that were uploaded, or that are at the path that was given; None without any. Raises IngestError."""
    left, right = st.columns(2, gap="medium")
    with left:
        uploaded = st.file_uploader(
            label, accept_multiple_files=True, key=f"{kind}_files", on_change=_forget, args=(kind,)
        )
        held = None if uploaded else _left_here(kind)
    with right:
        place = st.text_input("Or a file or folder on this machine", key=f"{kind}_place", persist_state="session")
    if uploaded:
        return _kept(uploaded, _HELD + kind)
    return held or (_at(place.strip()) if place.strip() else None)


def who(kind: str) -> tuple[str, ...] | None:
    """Who may see it: () as the files say; None while it is not said."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        chosen = st.radio(
            "Who may see it",
            [_AS_IT_SAYS, _EVERYBODY, _THESE],
            index=None,
            key=f"{kind}_who",
            horizontal=True,
            persist_state="page",
        )
        if chosen == _THESE:
            names = st.text_input(
                "Principals, separated by commas",
                key=f"{kind}_names",
                autocomplete="off",
                width=400,
                persist_state="page",
            )
            return tuple(name.strip() for name in names.split(",") if name.strip()) or None
    return {_AS_IT_SAYS: (), _EVERYBODY: (PUBLIC,)}.get(chosen) if chosen else None


def _left_here(kind: str) -> Files | None:
    """What was uploaded before another tab or page was looked at, which an uploader forgets; it can be removed."""
    held: Files | None = st.session_state.get(_HELD + kind)
    if held is None:
        return None
    with st.container(key=f"{kind}_left_here", horizontal=True, gap="small", vertical_alignment="center"):
        one = held.path.is_file()
        st.text(f"Uploaded: {plain(held.path.name, 100) if one else count(len(list(held.path.iterdir())), 'file')}")
        st.button("Remove", key=f"{kind}_remove", on_click=_forget, args=(kind,))
    return held


def _forget(kind: str) -> None:
    st.session_state.pop(_HELD + kind, None)


def _at(place: str) -> Files:
    try:
        path = Path(os.path.expanduser(place))
        path.stat()
        inside = sorted(islice(path.rglob("*"), _STAMPED))
        stamps = [[str(file), held.st_mtime_ns, held.st_size] for file in (path, *inside) if (held := file.lstat())]
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        said = f"{place[:500]} cannot be read: {why}."
        raise IngestError(said, remedy="Name a file or a folder that is there.") from error
    return Files(path=path, stamp=digest(stamps))


def _kept(uploaded: list[Any], key: str) -> Files:
    made_of = digest([[file.file_id, file.name] for file in uploaded])
    held: Files | None = st.session_state.get(key)
    if held is None or held.stamp != made_of:
        whole = Path(tempfile.mkdtemp(prefix="hopscope-"))
        held = Files(path=whole if len(uploaded) > 1 else whole / _name(uploaded[0]), stamp=made_of)
        weakref.finalize(held, shutil.rmtree, whole, ignore_errors=True)
        for file in uploaded:
            try:
                with (whole / _name(file)).open("xb") as kept:
                    kept.write(file.getbuffer())
            except FileExistsError as error:
                raise IngestError(f"Two files are called {_name(file)}.", remedy="Upload each file once.") from error
            except (OSError, ValueError) as error:
                raise IngestError(f"{_name(file)} cannot be kept: {error}.", remedy="Give it another name.") from error
        st.session_state[key] = held
    return held


def _name(file: Any) -> str:
    """Never a way out of a folder."""
    name = Path(file.name.replace("\\", "/")).name
    return "file" if name in ("", "..") else name
