"""The first look at a query: only what reads is let through to the engine.

It says early and clearly what is not possible; the wall is the process that the query runs in.
"""

from __future__ import annotations

import re

from kgcore.errors import QueryError

MAX_LENGTH = 8_000
"""Characters of a query."""
MAX_DEPTH = 32
"""Brackets within brackets."""

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`(?:[^`]|``)*`"
_TOKEN = re.compile(rf"//[^\n\r]*|/\*.*?\*/|{_QUOTED}|(?P<word>\$?\w+)|(?P<sign>\S)", re.DOTALL)
_OPEN, _CLOSE = "([{", ")]}"

WRITES = ("CREATE", "MERGE", "SET", "DELETE", "DETACH", "REMOVE", "FOREACH", "DROP", "ALTER", "RENAME", "INSERT")
RUNS = ("LOAD", "SHOW", "EXPLAIN", "PROFILE", "USE", "TERMINATE", "GRANT", "DENY", "REVOKE", "START", "STOP", "ENABLE")
_REFUSED = frozenset((*WRITES, *RUNS, "DRYRUN", "PERIODIC", "CSV"))
_READING = "Ask with MATCH, WHERE, WITH, UNWIND and RETURN."


def check(query: str) -> str:
    """The query, if it can only read. Raises QueryError."""
    if not query.strip():
        raise QueryError("There is no query.", remedy="Write one, such as MATCH (n) RETURN n LIMIT 10.")
    if len(query) > MAX_LENGTH:
        raise QueryError(
            f"A query may have {MAX_LENGTH:,} characters; this one has {len(query):,}.",
            remedy="Shorten it, or pass long lists as parameters.",
        )
    words = _tokens(query)
    for at, token in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else ""
        _check(token.upper(), words[at - 1] if at else "", after)
    return query


def _tokens(query: str) -> list[str]:
    """Words and signs in order, without strings, comments and quoted names, each of which stands as `""` or nothing.

    Raises QueryError for brackets that are too deep, and for a quote or a comment without an end.
    """
    found: list[str] = []
    depth = 0
    for match in _TOKEN.finditer(query):
        text = match.group()
        if match.lastgroup is None:
            if not text.startswith("/"):
                found.append('""')
            continue
        found.append(text)
        if text in ("'", '"', "`") or (text == "/" and query.startswith("/*", match.start())):
            raise QueryError("A quote or a comment has no end.", remedy="Close it.")
        depth += (text in _OPEN) - (text in _CLOSE)
        if depth > MAX_DEPTH:
            raise QueryError(f"Brackets are more than {MAX_DEPTH} deep.", remedy="Write the query flatter.")
    return found


def _check(token: str, before: str, after: str) -> None:
    if token == ";":
        raise QueryError("Only one query can be asked at a time.", remedy="Leave the semicolon out.")
    named = before in (".", ":", "$") or token.startswith("$") or (after == ":" and before in ("{", ","))
    if named:
        return
    if token == "CALL" and after not in ("{", "("):
        raise QueryError("Procedures cannot be called.", remedy=f"{_READING} A subquery is CALL (n) {{ ... }}.")
    if token in _REFUSED:
        kind = "changes the graph" if token in WRITES else "is not a question of the graph"
        raise QueryError(f"{token} cannot be used here: it {kind}.", remedy=f"{_READING} A name can stand in `quotes`.")
