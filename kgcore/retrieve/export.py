"""A run as JSON, and back: what can be saved, shared and opened again without the store. Its facts as CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import regex
from pydantic import ConfigDict, TypeAdapter, ValidationError

from kgcore.errors import IngestError
from kgcore.retrieve.render import facts_text, source_titles
from kgcore.retrieve.saved import first_fault
from kgcore.text import whole_characters
from kgcore.types import Retrieval

MAX_BYTES = 20_000_000
CSV_COLUMNS = (
    "rank",
    "hop",
    "source",
    "relation",
    "target",
    "description",
    "score",
    "new_words",
    "documents",
    "source_id",
    "target_id",
)
_RUN: TypeAdapter[Retrieval] = TypeAdapter(Retrieval)
# A dataclass takes no configuration here, a union does, and hands it down.
_SAVED: TypeAdapter[Retrieval | None] = TypeAdapter(
    Retrieval | None, config=ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
)
_REMEDY = "Open a run that Hopscope saved."
# What a spreadsheet calculates, after anything that cannot be seen; some take the full-width signs too.
_FORMULA = regex.compile(r"[\s\p{C}\p{M}\p{Default_Ignorable_Code_Point}\u2800]*[=+\-@＝＋－＠]")


def retrieval_dict(result: Retrieval) -> dict[str, Any]:
    """A result as plain data, with timings: what `run` gives."""
    plain = _RUN.dump_python(result, mode="json")
    plain["facts"] = facts_text(result.facts)
    if not result.context:
        del plain["context"]
    return dict(plain)


def run_json(result: Retrieval) -> str:
    """A run to save: the same run gives the same bytes. Timings, vectors and locked filters are not in it."""
    try:
        return _RUN.dump_json(result, exclude={"timings"}, indent=1).decode()
    except ValueError:
        # Half a character, from a document retriever or a hand that made this result.
        plain = _RUN.dump_python(result, mode="json", exclude={"timings"})
        return whole_characters(json.dumps(plain, ensure_ascii=False, indent=1))


def read_run(text: str | bytes) -> Retrieval:
    """A saved run. Raises IngestError with the place of the first fault; nothing is fetched by what it holds.

    What it gives can be shown: it is as a walk leaves it, and not larger than one can be.
    """
    if len(text) > MAX_BYTES:
        raise IngestError("The file is larger than a run can be.", remedy=_REMEDY)
    try:
        run = _SAVED.validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        raise _not_a_run(".".join(map(str, first["loc"])), first["msg"]) from error
    if run is None:
        raise _not_a_run("", "It is empty")
    if fault := first_fault(run):
        raise _not_a_run(*fault)
    return run


def facts_csv(result: Retrieval) -> str:
    """The result's facts as a table (RFC 4180), a header and a row a fact, for any spreadsheet.

    The same result gives the same text. Scores are whole; texts are one line, and none of them is a formula: one that
    would be has an apostrophe before it. Documents are titles where the run has them.
    """
    from kgcore.viz.frontier import telling_words  # its package draws graphs too, which no other export needs

    kept = {c.fact.id: c for hop in result.trace.hops for c in hop.candidates if c.fate == "kept"}
    titles = source_titles(result)
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\r\n")
    writer.writerow(CSV_COLUMNS)
    for rank, fact in enumerate(result.facts, start=1):
        words = telling_words(kept[fact.id], result.trace) if fact.id in kept else []
        texts = {
            "source": fact.source,
            "relation": fact.relation,
            "target": fact.target,
            "description": fact.description or "",
            "new_words": "; ".join(words),
            "documents": "; ".join(titles.get(id_, id_) for id_ in fact.source_doc_ids),
            "source_id": fact.source_id,
            "target_id": fact.target_id,
        }
        row = {"rank": rank, "hop": fact.hop, "score": fact.score, **{k: _cell(v) for k, v in texts.items()}}
        writer.writerow(row[column] for column in CSV_COLUMNS)
    return table.getvalue()


def _not_a_run(place: str, fault: str) -> IngestError:
    where, what = (" ".join(text.split()) for text in (place or "the file", fault.removesuffix(".")))
    shown = where if len(where) <= 120 else f"{where[:119]}…"
    return IngestError(f"Not a saved run: {shown}: {what[:150]}.", remedy=_REMEDY)


def _cell(text: str) -> str:
    from kgcore.viz.labels import plain

    line = plain(text, 2 * len(text) + 1)
    return f"'{line}" if _FORMULA.match(line) else line
