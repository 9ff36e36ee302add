"""Extract: documents, read by the chat model under an ontology; what it said is looked over, then written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from kgcore.ingest import Plan, plan_source, write_source
from kgcore.ingest.assemble import assemble, existing_in, names_in
from kgcore.ingest.cache import AnswerCache
from kgcore.ingest.chunking import chunks_of
from kgcore.ingest.documents import PRINCIPALS, checked_principals
from kgcore.ingest.extract import Read, Tally, extract
from kgcore.ingest.ontology import write_ontology
from kgcore.ingest.resolve import Merge, Names, Resolution
from kgcore.ingest.source import GraphParts, Notes, naming_nobody, stamped
from kgcore.ingest.texts import texts_of
from kgcore.models.protocol import ChatModel
from kgcore.types import Chunk, Ontology
from kgcore.viz import count, plain
from ui import working
from ui.build_files import Files, files, who
from ui.build_ontology import ontology_editor
from ui.build_plan import show_notes, show_plan, summary
from ui.jobs import Job
from ui.more import NEEDS_CHAT
from ui.resources import digest
from ui.text import escaped
from ui.visit import Visit
from ui.working import Work

_SAMPLES = 5
_ROWS, _FEW = 200, 6
_FOUND, _REFUSED = "extract_found", "extract_refused"


@dataclass(frozen=True, kw_only=True)
class _Found:
    """What the model said, of which documents and under which ontology."""

    subject: str
    reads: tuple[Read, ...]
    ontology: Ontology

    @property
    def answered(self) -> str:
        """Another once a passage that failed has been read."""
        return digest([self.subject, [read.error is None for read in self.reads]])


def show_extract(here: Visit) -> None:
    """From documents to a graph."""
    model = here.retriever.llm
    if model is None:
        st.caption(NEEDS_CHAT)
    given = files("Documents: txt, md, html, pdf, docx, csv or jsonl", "extract")
    read = _chunks(here, given) if given else None
    chunks, notes = read or ((), Notes())
    left, right = st.columns([3, 2], gap="medium")
    with left, st.expander("Ontology: the entities and relations that are read", expanded=True):
        ontology = ontology_editor(here, [chunk.content for chunk in chunks[:_SAMPLES]])
    with right:
        if given is None:
            st.caption(
                "Each fact that the model gives is held against its passage; you see what is set aside, and why."
            )
        if read is None:
            return
        documents = len({chunk.document_id for chunk in chunks})
        st.text(f"{count(documents, 'document')}, {count(len(chunks), 'passage')}")
        show_notes(notes.counts)
        principals = who("extract")
        if principals is None:
            st.caption("Say who may see it: everybody, the principals that you name, or those that the files name.")
    if model is None or ontology is None or principals is None or working.is_on(here.graph):
        return
    held = [[chunk.id, chunk.document_id, chunk.content, dict(chunk.metadata)] for chunk in chunks]
    subject = digest([held, write_ontology(ontology), model.name])
    last = working.last(here.graph)
    found = last.result if last is not None and isinstance(last.result, _Found) else None
    if found is None or found.subject != subject:
        found = st.session_state.get(_FOUND)
    if found is None or found.subject != subject:
        if right.button("Read", key="extract_read", type="primary"):
            _begin(here, chunks, ontology, model, subject)
            st.rerun()
        return
    st.session_state[_FOUND] = found
    _look_over(here, found, chunks, principals, model)


def _chunks(here: Visit, given: Files) -> tuple[tuple[Chunk, ...], Notes] | None:
    def read(job: Job[tuple[tuple[Chunk, ...], Notes]]) -> tuple[tuple[Chunk, ...], Notes]:
        chunks: list[Chunk] = []
        notes = Notes()
        for text in texts_of(given.path, notes, access_fields=here.config.access_fields):
            chunks.extend(chunks_of(text))
            working.unless_stopped(job)
        return tuple(chunks), notes

    return working.waited("texts", given.stamp, "Reading the documents", read)


def _begin(here: Visit, chunks: Sequence[Chunk], ontology: Ontology, model: ChatModel, subject: str) -> None:
    def work(now: Work) -> str:
        def progress(tally: Tally) -> None:
            now.done, now.total, now.of, now.note = tally.done, tally.total, "passages", _note(here, tally)

        reads = tuple(
            extract(chunks, ontology, model, AnswerCache(), stopped=lambda: now.job.stopped, progress=progress)
        )
        if len(reads) < len(chunks):
            return f"Stopped after {len(reads):,} of {len(chunks):,} passages; reading again goes on from there."
        now.result = _Found(subject=subject, reads=reads, ontology=ontology)
        return f"{len(reads):,} passages read. Look over below what is written."

    working.begin(here.graph, "Reading", work)


def _note(here: Visit, tally: Tally) -> str:
    parts = [
        f"{tally.facts:,} facts",
        f"{tally.set_aside:,} set aside",
        f"{tally.cached:,} from the cache" if tally.cached else "",
        f"{tally.failed:,} failed" if tally.failed else "",
        f"{tally.prompt_tokens + tally.answer_tokens:,} tokens" if tally.prompt_tokens else "",
        _cost(here, tally),
        f"{tally.rate:.0f} a minute" if tally.rate else "",
        f"{tally.seconds_left:.0f} s left" if tally.seconds_left else "",
        f"the server asks to wait {tally.waiting:.0f} s" if tally.waiting else "",
    ]
    return "".join(f" · {part}" for part in parts if part)


def _cost(here: Visit, tally: Tally) -> str:
    asked, answered = here.config.chat_prices
    if not asked and not answered:
        return ""
    return f"cost {(tally.prompt_tokens * asked + tally.answer_tokens * answered) / 1e6:.2f}"


def _look_over(
    here: Visit, found: _Found, chunks: Sequence[Chunk], principals: tuple[str, ...], model: ChatModel
) -> None:
    failed = [read for read in found.reads if read.error is not None]
    aside = [(each, read.chunk.id) for read in found.reads for each in read.set_aside]
    facts = sum(len(read.facts) for read in found.reads)
    st.text(f"{count(facts, 'fact')} supported, {len(aside):,} set aside, {count(len(failed), 'passage')} failed")
    if failed:
        with st.expander(f"Failed: {len(failed):,}"):
            for read in failed[:20]:
                st.caption(escaped(f"{read.chunk.id}: {read.error} {read.error.remedy if read.error else ''}", 400))
            if st.button("Read these again", key="extract_again"):
                del st.session_state[_FOUND]
                _begin(here, chunks, found.ontology, model, found.subject)
                st.rerun()
    if aside:
        with st.expander(f"Set aside: {len(aside):,}"):
            st.dataframe(
                {
                    "What": [plain(each.what, 300) for each, _ in aside[:_ROWS]],
                    "Why": [each.reason for each, _ in aside[:_ROWS]],
                    "Passage": [plain(id_, 100) for _, id_ in aside[:_ROWS]],
                },
                hide_index=True,
                key="extract_aside",
            )
    store = here.graph.store.whole()
    version = here.visible.data_version
    names = working.waited(
        "names",
        (found.answered, version),
        "Comparing names",
        lambda _: names_in(found.reads, existing_in(store, found.ontology)),
    )
    if names is None:
        return
    resolution = _resolution(found.subject, names)
    stamp = {PRINCIPALS: checked_principals(principals)} if principals else {}

    def parts(notes: Notes) -> Sequence[GraphParts]:
        return list(naming_nobody(stamped(assemble(found.reads, resolution), stamp), here.config.access_fields, notes))

    def compare(job: Job[tuple[Plan, Notes]]) -> tuple[Plan, Notes]:
        notes = Notes()
        return plan_source(store, parts(notes), progress=lambda _: working.unless_stopped(job)), notes

    subject = found.answered, version, tuple(merge.id for merge in resolution.merges), principals
    planned = working.waited("extract_plan", subject, "Comparing", compare)
    if planned is not None:
        plan, notes = planned
        show_plan(
            here, plan, notes.counts, "extract",
            lambda now: summary(write_source(store, parts(Notes()), progress=now.step)),
        )  # fmt: skip


def _resolution(subject: str, names: Names) -> Resolution:
    """Which names are one, but for the merges that are refused here; refusing one may propose another."""
    held: tuple[str, dict[str, Merge]] = st.session_state.get(_REFUSED, ("", {}))
    refused = held[1] if held[0] == subject else {}
    resolution = names.resolved(refused.keys())
    listed = sorted([*resolution.merges, *refused.values()], key=lambda merge: (-merge.score, merge.id))
    if not listed:
        return resolution
    with st.expander(f"Names that are taken for one: {len(resolution.merges):,}", expanded=True):
        edited = st.data_editor(
            {
                "Merge": [merge.id not in refused for merge in listed],
                "Name": [plain(merge.merged, 200) for merge in listed],
                "Is": [plain(merge.kept, 200) for merge in listed],
                "Type": [plain(merge.type, 100) for merge in listed],
                "Score": [round(merge.score, 2) for merge in listed],
                "In the graph": [merge.existing for merge in listed],
            },
            hide_index=True,
            height="content" if len(listed) < _FEW else 220,
            disabled=["Name", "Is", "Type", "Score", "In the graph"],
            key=f"extract_merges_{digest([[merge.id for merge in listed], sorted(refused)])}",
        )
    kept = [bool(each) for each in edited["Merge"]]  # type: ignore[attr-defined]
    now = {merge.id: merge for merge, keep in zip(listed, kept, strict=True) if not keep}
    if now.keys() != refused.keys():
        st.session_state[_REFUSED] = subject, now
        st.rerun()
    return resolution
