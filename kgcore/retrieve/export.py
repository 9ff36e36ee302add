"""A run as JSON, alone or in a page, and back: what can be opened again without the store. Its facts as CSV."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from itertools import islice
from typing import Any

import regex
from pydantic import ConfigDict, TypeAdapter, ValidationError

from kgcore.errors import ConfigError, IngestError
from kgcore.retrieve.render import facts_text, source_titles
from kgcore.retrieve.saved import MAX_READ, first_fault, to_read
from kgcore.text import whole_characters
from kgcore.types import Retrieval

MAX_BYTES = 20_000_000
MAX_PAGE = 3 * MAX_BYTES
"""Of a page that holds a run, which has the picture of it too."""
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
_ELEMENT = '<script type="application/json" id="hopscope-run" data-sha256="{digest}">{text}</script>'
_OPENED = re.compile(_ELEMENT.partition("{digest}")[0] + r'([0-9a-f]{64})">')
# As JSON writes them: what could end a script's element or begin a comment in it, and the ends of line of a script.
_ESCAPES = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})
# What a spreadsheet calculates, after anything that cannot be seen; some take the full-width signs too.
_UNSEEN, _SIGN = r"\s\p{C}\p{M}\p{Default_Ignorable_Code_Point}\u2800", "[=+\\-@＝＋－＠]"
_FORMULA = regex.compile(rf"[{_UNSEEN}]*{_SIGN}")
# Where a comma is in numbers, a spreadsheet begins a cell after each semicolon.
_FORMULA_WITHIN = regex.compile(rf'(?={_SIGN})(?<=;[{_UNSEEN}"]*)')


def retrieval_dict(result: Retrieval) -> dict[str, Any]:
    """A result as plain data, with timings: what `run` gives."""
    plain = _RUN.dump_python(result, mode="json")
    plain["facts"] = facts_text(result.facts)
    if not result.context:
        del plain["context"]
    return dict(plain)


def run_json(result: Retrieval) -> str:
    """A run to save: the same run gives the same bytes. Timings, vectors and locked filters are not in it.

    Raises ConfigError for one that is too large to be opened again.
    """
    return checked_size(_json(result), MAX_BYTES)


def _json(result: Retrieval) -> str:
    if to_read(result) > MAX_READ:
        raise _too_large("The passages of the run are too long to be searched for so many facts")
    try:
        return _RUN.dump_json(result, exclude={"timings"}, indent=1).decode()
    except ValueError:
        # Half a character, from a document retriever or a hand that made this result.
        plain = _RUN.dump_python(result, mode="json", exclude={"timings"})
        return whole_characters(json.dumps(plain, ensure_ascii=False, indent=1))


def run_element(result: Retrieval) -> str:
    """`run_json` as an element of a page, which nothing in it can end, and which says if it was changed since.

    Raises ConfigError.
    """
    text = checked_size(inert(_json(result)), MAX_BYTES)
    return _ELEMENT.format(digest=_digest(text), text=text)


def checked_size(text: str, most: int) -> str:
    """A text to save, of at most so many bytes. Raises ConfigError."""
    size = len(text.encode())
    if size > most:
        raise _too_large(
            f"The run takes {size / 1e6:,.1f} MB, and a file that opens again {most / 1e6:,.0f} MB at most"
        )
    return text


def inert(text: str) -> str:
    """JSON as the content of a page's script element: the same value, in characters that mean nothing to a page."""
    return text.translate(_ESCAPES)


def read_run(text: str | bytes) -> Retrieval:
    """A saved run, from its JSON or from a page that holds it.

    Raises IngestError with the place of the first fault; nothing is fetched by what it holds. What it gives can be
    shown: it is as a walk leaves it, and not larger than one can be.
    """
    if _is_page(text) and len(text) <= MAX_PAGE:
        text = _run_in(text)
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
        row = {"rank": rank, "hop": fact.hop, "score": fact.score, **{k: csv_cell(v) for k, v in texts.items()}}
        writer.writerow(row[column] for column in CSV_COLUMNS)
    return table.getvalue()


def _is_page(text: str | bytes) -> bool:
    """JSON begins with no `<`."""
    start = text[:100].decode("utf-8-sig", "replace") if isinstance(text, bytes) else text[:100]
    return start.lstrip("\ufeff \t\r\n").startswith("<")


def _run_in(page: str | bytes) -> str:
    """The JSON of the one run that a page holds, as it was written."""
    text = page.decode("utf-8", "replace") if isinstance(page, bytes) else page
    opened = [*islice(_OPENED.finditer(text), 2)]
    if len(opened) != 1:
        raise _not_a_run("", "It is a page that holds more than one" if opened else "It is a page that holds none")
    found, end, _ = text[opened[0].end() :].partition("</script>")
    if not end:
        raise _not_a_run("", "The page ends before its run does")
    if _digest(found) != opened[0][1]:
        raise _not_a_run("", "Its run was changed since it was saved")
    return found


def _digest(text: str) -> str:
    """The same however a file's lines end, which some ways of sending it change."""
    return hashlib.sha256(text.replace("\r\n", "\n").encode("utf-8", "replace")).hexdigest()


def _not_a_run(place: str, fault: str) -> IngestError:
    where, what = (" ".join(text.split()) for text in (place or "the file", fault.removesuffix(".")))
    shown = where if len(where) <= 120 else f"{where[:119]}…"
    return IngestError(f"Not a run of Hopscope, or changed since it was saved: {shown}: {what[:115]}.", remedy=_REMEDY)


def _too_large(fault: str) -> ConfigError:
    return ConfigError(f"{fault}.", remedy="Save a smaller run: fewer hops, a smaller beam or top k.")


def csv_cell(text: str) -> str:
    """A text as a table holds it: one line, which no program that opens it takes for a formula."""
    from kgcore.viz.labels import plain

    line = _FORMULA_WITHIN.sub("'", plain(text, 2 * len(text) + 1))
    return f"'{line}" if _FORMULA.match(line) else line
