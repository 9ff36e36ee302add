"""What holds for every run, so that a saved one that somebody has changed is told from one that was saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from kgcore.errors import ConfigError, FilterError
from kgcore.filters import parse_filter
from kgcore.retrieve.alias import PART
from kgcore.retrieve.expand import CUT_SHOWN
from kgcore.retrieve.render import fact_documents
from kgcore.retrieve.settings import MAX_SEEDS, NAME_LISTS, auto_beam, check_names, check_numbers, check_question
from kgcore.retrieve.summarize import retrieved_text
from kgcore.types import KEPT_BY_BEAM, Alias, Candidate, Explained, Hop, Retrieval, Settings, Trace

MAX_WARNINGS = 1_000
MAX_READ = 50_000_000
"""Characters that are looked through to find where each fact is said: a quarter of a minute's work."""
MAX_COUNT = 2**53
"""Beyond it a browser does not count exactly."""
SLACK = 1e-5
"""What rounding may make of a sum."""

Fault = tuple[str, str]
"""The place, `trace.hops.0.kept`, and what is wrong there, to follow a colon."""


def first_fault(run: Retrieval) -> Fault | None:
    """The first place where a run is not as a walk leaves it; None for one that can be shown."""
    return next(_faults(run), None)


def _faults(run: Retrieval) -> Iterator[Fault]:
    """Each part is looked at when those before it are as they must be."""
    trace = run.trace
    yield from _in_settings(trace.settings)
    yield from _in_words(trace)
    yield from _in_seeds(trace)
    yield from _in_hops(trace)
    yield from _in_result(run)
    yield from _in_passages(trace)
    yield from _in_sources(run)
    if len(trace.warnings) > MAX_WARNINGS:
        yield "trace.warnings", f"there are more than {MAX_WARNINGS:,}"
    yield from _in_text(run)
    if run.timings:
        yield "timings", "they are not saved"


def _in_settings(settings: Settings) -> Iterator[Fault]:
    try:
        check_numbers(asdict(settings))
        for name in NAME_LISTS:
            check_names(getattr(settings, name), name)
        if settings.filters is not None:
            parse_filter(settings.filters)
    except ConfigError as error:
        yield f"trace.settings.{error.field}", str(error)
    except FilterError as error:
        yield ".".join(["trace.settings.filters", *[error.path] * bool(error.path)]), str(error)
    if settings.beam_auto and settings.beam_width != auto_beam(settings.top_k, settings.max_hops):
        yield "trace.settings.beam_width", "Auto gives another width"


def _in_words(trace: Trace) -> Iterator[Fault]:
    try:
        if check_question(trace.question) != trace.question:
            yield "trace.question", "a question does not begin or end so"
    except ConfigError as error:
        yield "trace.question", str(error)
    end = 0
    for i, word in enumerate(trace.words):
        place = f"trace.words.{i}"
        if not end <= word.start < word.end <= len(trace.question):
            yield place, "it is not in the question, after the word before it"
        if trace.question[word.start : word.end] != word.text:
            yield place, "the question has other words there"
        if word.weight < 0 or not (word.hop is None or 0 <= word.hop <= len(trace.hops)):
            yield place, "its weight or its hop cannot be"
        end = word.end


def _in_seeds(trace: Trace) -> Iterator[Fault]:
    if len(trace.seeds) > MAX_SEEDS:
        yield "trace.seeds", f"there are more than {MAX_SEEDS:,}"
    if len({seed.entity_id for seed in trace.seeds}) < len(trace.seeds):
        yield "trace.seeds", "an entity is a seed twice"
    for i, seed in enumerate(trace.seeds):
        if abs(seed.score) > 1 + SLACK:
            yield f"trace.seeds.{i}.score", "it is none"
        yield from _in_counts(f"trace.seeds.{i}", degree=seed.degree)


def _in_hops(trace: Trace) -> Iterator[Fault]:
    settings = trace.settings
    if len(trace.hops) > settings.max_hops:
        yield "trace.hops", f"there are more than max_hops, {settings.max_hops}"
    kept: dict[str, Candidate] = {}
    reached = {seed.entity_id for seed in trace.seeds}
    for i, hop in enumerate(trace.hops):
        place = f"trace.hops.{i}"
        of_beam = [candidate for candidate in hop.candidates if candidate.fate in KEPT_BY_BEAM]
        if hop.number != i + 1:
            yield f"{place}.number", f"hops count from 1, so it is {i + 1}"
        yield from _in_aliases(f"{place}.aliases", hop.aliases, settings.hub_limit, reached)
        reached |= {alias.entity_id for alias in hop.aliases}
        yield from _in_counts(place, considered=hop.considered, left_out=hop.left_out, kept=hop.kept)
        if hop.kept != len(of_beam) or hop.kept > settings.beam_width:
            yield f"{place}.kept", "it is not the number of candidates that the beam kept"
        # At most the beam's, the best that it cut, and a hub for each far end of the hop before.
        if len(hop.candidates) > 2 * settings.beam_width + CUT_SHOWN:
            yield f"{place}.candidates", "there are more than a hop can have"
        yield from _in_explained(f"{place}.explains", hop.explains, trace)
        for j, candidate in enumerate(hop.candidates):
            yield from _in_candidate(f"{place}.candidates.{j}", candidate, hop, trace, kept, reached)
        if len({candidate.fact.id for candidate in of_beam} - kept.keys()) < len(of_beam):
            yield f"{place}.candidates", "a fact is kept twice"
        if len({c.fact.id for c in hop.candidates if c.fate != "hub"}) > hop.considered - hop.left_out:
            yield f"{place}.considered", "there are more candidates"
        if hop.cutoff != min((candidate.score for candidate in of_beam), default=0.0):
            yield f"{place}.cutoff", "it is not the score of the last that the beam kept"
        kept |= {candidate.fact.id: candidate for candidate in of_beam}
        reached |= {candidate.entity_id for candidate in of_beam}


def _in_aliases(place: str, aliases: Sequence[Alias], hub_limit: int, reached: set[str]) -> Iterator[Fault]:
    if not reached >= {alias.of_id for alias in aliases} or len(aliases) > MAX_SEEDS:
        yield place, "no hop before reached what one is an alias of"
    if len({alias.entity_id for alias in aliases} - reached) < len(aliases):
        yield place, "one is there twice, or was reached before"
    for i, alias in enumerate(aliases):
        if not PART <= alias.share <= 1 or not 0 <= alias.degree <= hub_limit:
            yield f"{place}.{i}", "its share or its degree cannot be"


def _in_candidate(
    place: str, candidate: Candidate, hop: Hop, trace: Trace, kept: Mapping[str, Candidate], reached: set[str]
) -> Iterator[Fault]:
    """`kept` and `reached` are of the hops before. A hub stands in the hop after the one that reached it."""
    fact, is_hub = candidate.fact, candidate.fate == "hub"
    number = hop.number - 1 if is_hub else hop.number
    before = candidate.chain[:-1]
    if candidate.hop != hop.number:
        yield f"{place}.hop", "it is not the hop that it stands in"
    if (fact.hop, fact.score) != (number, candidate.score):
        yield f"{place}.fact", "its hop or score is not the candidate's"
    if candidate.chain[-1:] != (fact.id,) or len(candidate.chain) != number or not kept.keys() >= {*before}:
        yield f"{place}.chain", "it does not lead to the fact by facts that were kept"
    if candidate.parent_id not in reached:
        yield f"{place}.parent_id", "no hop before reached it"
    if {candidate.parent_id, candidate.entity_id} != {fact.source_id, fact.target_id}:
        yield f"{place}.entity_id", "the fact has other ends"
    if (candidate.rank == 0) != (is_hub or candidate.fate == "duplicate"):
        yield f"{place}.rank", "only duplicates and hubs have none"
    if candidate.fate == "llm_cut" and not trace.settings.llm_filter:
        yield f"{place}.fate", "no chat model read the candidates"
    if len(set(fact.source_doc_ids)) < len(fact.source_doc_ids):
        yield f"{place}.fact.source_doc_ids", "a document is there twice"
    yield from _in_counts(place, rank=candidate.rank, degree=candidate.degree)
    yield from _in_explained(f"{place}.explains", candidate.explains, trace)


def _in_result(run: Retrieval) -> Iterator[Fault]:
    trace = run.trace
    kept = {c.fact.id: c for hop in trace.hops for c in hop.candidates if c.fate == "kept"}
    if len(trace.result) > trace.settings.top_k:
        yield "trace.result", f"it has more facts than top_k, {trace.settings.top_k}"
    if len(set(trace.result)) < len(trace.result) or {*trace.result} != kept.keys():
        yield "trace.result", "it is not the facts whose fate is kept"
    if any(fact_id not in kept for fact_id in trace.result for fact_id in kept[fact_id].chain):
        yield "trace.result", "a fact is there without its chain"
    if run.facts != tuple(kept[fact_id].fact for fact_id in trace.result):
        yield "facts", "they are not those of trace.result"
    if run.documents != fact_documents(run.facts):
        yield "documents", "they are not the facts"


def _in_text(run: Retrieval) -> Iterator[Fault]:
    retrieved = retrieved_text(run.facts, run.source_documents)
    if run.context and not (run.trace.settings.summarize and run.content):
        yield "context", "there is no answer that it belongs to"
    if run.context and run.context != retrieved:
        yield "context", "it is not what was retrieved"
    if not run.context and run.content != retrieved:
        yield "content", "it is not what was retrieved"


def _in_passages(trace: Trace) -> Iterator[Fault]:
    if len({passage.id for passage in trace.passages}) < len(trace.passages):
        yield "trace.passages", "one is there twice"
    for i, passage in enumerate(trace.passages):
        place = f"trace.passages.{i}"
        if passage.rank != i + 1:
            yield f"{place}.rank", f"passages count from 1, so it is {i + 1}"
        if abs(passage.by_path + passage.by_near + passage.by_page_rank - passage.score) > SLACK:
            yield f"{place}.score", "it is not the sum of its parts"
        if abs(passage.near or 0) > 1 + SLACK or not 0 <= passage.page_rank <= 1:
            yield f"{place}.near", "it or the PageRank cannot be"
        yield from _in_explained(f"{place}.explains", passage.explains, trace)


def _in_sources(run: Retrieval) -> Iterator[Fault]:
    asserting = {document_id for fact in run.facts for document_id in fact.source_doc_ids}
    weighed = {passage.id for passage in run.trace.passages}
    lengths = {document.id: len(document.content) for document in run.source_documents}
    if len(lengths) < len(run.source_documents) or not lengths.keys() <= asserting | weighed:
        yield "source_documents", "one is there twice, or no fact comes from it"
    if to_read(run) > MAX_READ:
        yield "source_documents", "they are too long to be searched for so many facts"


def to_read(run: Retrieval) -> int:
    """Characters that are looked through, wherever a run is shown, to find where each fact is said."""
    lengths = {document.id: len(document.content) for document in run.source_documents}
    facts = [c.fact for hop in run.trace.hops for c in hop.candidates if c.fate in (*KEPT_BY_BEAM, "beam_cut")]
    return sum(
        lengths[d] + len(f.text) + len(f.source) + len(f.target)
        for f in facts
        for d in f.source_doc_ids
        if d in lengths
    )


def _in_explained(place: str, explained: Sequence[Explained], trace: Trace) -> Iterator[Fault]:
    words = [one.word for one in explained]
    if len(set(words)) < len(words) or not all(0 <= word < len(trace.words) for word in words):
        yield place, "it names a word twice, or one that the question has not"


def _in_counts(place: str, **counts: int) -> Iterator[Fault]:
    for name, value in counts.items():
        if not 0 <= value <= MAX_COUNT:
            yield f"{place}.{name}", "it is no count"
