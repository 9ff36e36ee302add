"""A run as JSON, and back: what can be saved, shared and opened again without the store."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter, ValidationError

from kgcore.errors import IngestError
from kgcore.retrieve.render import facts_text
from kgcore.types import Retrieval

MAX_BYTES = 20_000_000
_RUN: TypeAdapter[Retrieval] = TypeAdapter(Retrieval)


def retrieval_dict(result: Retrieval) -> dict[str, Any]:
    """A result as plain data, with timings: what `run` gives."""
    plain = _RUN.dump_python(result, mode="json")
    plain["facts"] = facts_text(result.facts)
    if not result.context:
        del plain["context"]
    return dict(plain)


def run_json(result: Retrieval) -> str:
    """A run to save: the same run gives the same bytes. Timings, vectors and locked filters are not in it."""
    return _RUN.dump_json(result, exclude={"timings"}, indent=1).decode()


def read_run(text: str | bytes) -> Retrieval:
    """A saved run. Raises IngestError with the place of the first fault; nothing is fetched by what it holds."""
    if len(text) > MAX_BYTES:
        raise IngestError("The file is larger than a run can be.", remedy="Open a run that Hopscope saved.")
    try:
        return _RUN.validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise IngestError(
            f"Not a saved run: {where}: {first['msg']}.", remedy="Open a run that Hopscope saved."
        ) from error
