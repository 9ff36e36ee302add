"""Files that are built from: uploaded ones in a folder of the session, or a path; and who may see what they say."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from kgcore.errors import IngestError
from ui.resources import digest

PUBLIC = "group:public"
"""The principal of what everybody may see; a locked filter should hold it for all."""
_AS_IT_SAYS, _EVERYBODY, _THESE = "As the files say", f"Everybody ({PUBLIC})", "These principals alone"


@dataclass(frozen=True, kw_only=True)
class _Uploaded:
    """Uploaded files in a folder of this session, which goes with it."""

    key: str
    folder: tempfile.TemporaryDirectory[str]
    path: Path


def files(label: str, kind: str) -> Path | None:
    """The files that were uploaded, one or a folder, or the path that was given; None without any."""
    left, right = st.columns(2, gap="medium")
    with left:
        uploaded = st.file_uploader(label, accept_multiple_files=True, key=f"{kind}_files")
    with right:
        place = st.text_input("Or a file or folder on this machine", key=f"{kind}_place", persist_state="session")
    if uploaded:
        return _kept(uploaded, f"{kind}_held").path
    return Path(place.strip()).expanduser() if place.strip() else None


def who(kind: str) -> tuple[str, ...] | None:
    """Who may see it: () as the files say; None while it is not said."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        chosen = st.radio(
            "Who may see it", [_AS_IT_SAYS, _EVERYBODY, _THESE], index=None, key=f"{kind}_who", horizontal=True
        )
        if chosen == _THESE:
            names = st.text_input("Principals, separated by commas", key=f"{kind}_names", autocomplete="off", width=400)
            return tuple(name.strip() for name in names.split(",") if name.strip()) or None
    return {_AS_IT_SAYS: (), _EVERYBODY: (PUBLIC,)}.get(chosen) if chosen else None


def _kept(uploaded: list[Any], key: str) -> _Uploaded:
    made_of = digest([[file.file_id, file.name] for file in uploaded])
    held: _Uploaded | None = st.session_state.get(key)
    if held is None or held.key != made_of:
        folder = tempfile.TemporaryDirectory(prefix="hopscope-")
        whole = Path(folder.name) / "upload"
        whole.mkdir()
        for file in uploaded:
            name = Path(file.name.replace("\\", "/")).name  # never a way out of the folder
            if name in ("", ".", "..") or (whole / name).exists():
                raise IngestError(f"Two files are called {name!r}.", remedy="Upload each file once.")
            (whole / name).write_bytes(file.getbuffer())
        only = next(whole.iterdir()) if len(uploaded) == 1 else whole
        held = st.session_state[key] = _Uploaded(key=made_of, folder=folder, path=only)
    return held
