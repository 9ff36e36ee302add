"""One database of a Neo4j server: its address, bounded reading and writing, and its errors in our words.

The driver packs values by neo4j-rust-ext where that is installed; it is found without an import.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

import neo4j
from neo4j import exceptions as faults

from kgcore.errors import ConfigError, StoreError

T = TypeVar("T")
# What goes wrong is raised, with its remedy: the driver need not write it to the console too.
logging.getLogger("neo4j").setLevel(logging.CRITICAL)
SCHEMES = ("bolt", "neo4j", "bolt+s", "neo4j+s", "bolt+ssc", "neo4j+ssc")
TIMEOUT = 30.0
"""Seconds that one reading query may take in the server."""
WRITE_TIMEOUT = 600.0
RETRIES = 3
_RETRY_TIME = 5.0


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a database is, and who logs in. `shown` is what may be said of it: no user, no password."""

    uri: str
    database: str | None
    user: str
    password: str = field(repr=False)

    @property
    def shown(self) -> str:
        """Scheme, host, port and database."""
        return f"{self.uri}/{self.database}" if self.database else self.uri

    @classmethod
    def parse(cls, url: str, *, user: str = "", password: str = "") -> Address:
        """From `neo4j://[user:password@]host[:port][/database]`; `user` and `password` are used where it has none.

        Raises ConfigError, which repeats no part that may be a secret.
        """
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            parts, host, port = None, "", None
        if parts is None or parts.scheme not in SCHEMES or not host:
            raise ConfigError(
                "This is not the address of a Neo4j server.",
                remedy=f"Give neo4j://HOST:PORT/DATABASE; the schemes are {', '.join(SCHEMES)}.",
            )
        asked = parse_qs(parts.query).get("database", [""])[0]
        database = unquote(parts.path.strip("/")) or asked
        if ":" in host:
            host = f"[{host}]"
        return cls(
            uri=f"{parts.scheme}://{host}" + (f":{port}" if port else ""),
            database=database or None,
            user=unquote(parts.username or "") or user or "neo4j",
            password=unquote(parts.password or "") or password,
        )


@dataclass(frozen=True, kw_only=True)
class Index:
    """An index of the server. `dimension` is a vector index's, `analyzer` a full-text one's."""

    name: str
    kind: str
    state: str
    labels: tuple[str, ...]
    properties: tuple[str, ...]
    on_nodes: bool
    populated: float
    dimension: int | None = None
    analyzer: str = ""

    @property
    def online(self) -> bool:
        return self.state == "ONLINE"


class NeoServer:
    """A pool of connections to one database. Thread-safe: reads take a session each, writes a lock."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.queries = 0
        self._closed = False
        self._lock = threading.RLock()
        self._transaction: neo4j.Transaction | None = None
        self._writer: int | None = None
        try:
            self._driver = neo4j.GraphDatabase.driver(
                address.uri,
                auth=(address.user, address.password),
                max_connection_pool_size=32,
                connection_acquisition_timeout=20.0,
                connection_timeout=5.0,
                liveness_check_timeout=30.0,
                max_transaction_retry_time=_RETRY_TIME,
                notifications_min_severity="OFF",
                user_agent="hopscope",
            )
        except (faults.ConfigurationError, ValueError) as error:
            raise ConfigError(
                f"{address.shown} cannot be used as an address.", remedy="Correct the scheme, host and port."
            ) from error

    def connect(self) -> None:
        """Logs in once, without trying again. Raises StoreError."""
        with self._said(), self._session(neo4j.READ_ACCESS) as session:
            session.run(neo4j.Query("RETURN 1", timeout=TIMEOUT)).consume()

    def close(self) -> None:
        """Gives the connections back."""
        self._closed = True
        self._driver.close()

    def rows(self, query: str, params: Mapping[str, Any] | None = None, *, timeout: float = TIMEOUT) -> list[list[Any]]:
        """All rows of a query in READ mode, tried again while the server says that it may help. Raises StoreError."""
        self.queries += 1
        work = neo4j.unit_of_work(timeout=timeout)(lambda tx: run(tx, query, params))
        with self._said():
            with self._session(neo4j.READ_ACCESS) as session:
                return session.execute_read(work)

    @contextmanager
    def reading(self, *raised: type[Exception]) -> Iterator[neo4j.Session]:
        """A session in READ mode, tried once; errors of the kinds `raised` are left as they are. Raises StoreError."""
        self.queries += 1
        with self._said(*raised), self._session(neo4j.READ_ACCESS) as session:
            yield session

    @contextmanager
    def transaction(self) -> Iterator[neo4j.Transaction]:
        """The one writing transaction, which an inner call joins; rolled back on any error. Raises StoreError."""
        with self._lock:
            if self._transaction is not None:
                yield self._transaction
                return
            with self._said(), self._session(neo4j.WRITE_ACCESS) as session:
                with session.begin_transaction(timeout=WRITE_TIMEOUT) as transaction:
                    self._transaction, self._writer = transaction, threading.get_ident()
                    try:
                        yield transaction
                        transaction.commit()
                    finally:
                        self._transaction = self._writer = None

    @property
    def in_transaction(self) -> bool:
        """Whether this thread is inside a transaction of its own."""
        return self._writer == threading.get_ident()

    def again(self, change: Callable[[], T]) -> T:
        """Runs a change that makes its own transaction, again while the server says that it may help."""
        for attempt in range(RETRIES):
            try:
                return change()
            except StoreError as error:
                cause = error.__cause__
                retryable = isinstance(cause, faults.Neo4jError | faults.DriverError) and cause.is_retryable()
                if not retryable or attempt == RETRIES - 1:
                    raise
        raise AssertionError("unreachable")

    def alter(self, statement: str) -> None:
        """Runs one statement on the schema in a transaction of its own. Raises StoreError."""
        self.queries += 1
        with self._said(), self._session(neo4j.WRITE_ACCESS) as session:
            session.run(neo4j.Query(statement, timeout=WRITE_TIMEOUT)).consume()

    def indexes(self) -> dict[str, Index]:
        """The server's indexes by name, those of lookups left out."""
        rows = self.rows(
            "SHOW INDEXES YIELD name, type, state, entityType, labelsOrTypes, properties, options, populationPercent "
            "WHERE type <> 'LOOKUP'"
        )
        return {
            name: Index(
                name=name,
                kind=kind,
                state=state,
                labels=tuple(labels or ()),
                properties=tuple(properties or ()),
                on_nodes=entity_type == "NODE",
                populated=float(percent or 0),
                dimension=(options.get("indexConfig") or {}).get("vector.dimensions"),
                analyzer=(options.get("indexConfig") or {}).get("fulltext.analyzer", ""),
            )
            for name, kind, state, entity_type, labels, properties, options, percent in rows
        }

    def components(self) -> tuple[str, str]:
        """The kernel's version and its edition."""
        rows = self.rows("CALL dbms.components() YIELD name, versions, edition RETURN name, versions, edition")
        kernel = next((row for row in rows if row[0] == "Neo4j Kernel"), None)
        return (str(kernel[1][0]), str(kernel[2])) if kernel else ("", "")

    def _session(self, mode: str) -> neo4j.Session:
        return self._driver.session(database=self.address.database, default_access_mode=mode)

    @contextmanager
    def _said(self, *raised: type[Exception]) -> Iterator[None]:
        """Turns the driver's errors into ours, the same error kept as their cause; not those of the kinds `raised`."""
        if self._closed:
            raise StoreError(f"{self.address.shown} was closed.", remedy="Open it again.")
        try:
            yield
        except raised:
            raise
        except (faults.Neo4jError, faults.DriverError) as error:
            raise server_error(self.address, error) from error


def run(
    transaction: neo4j.Transaction | neo4j.ManagedTransaction, query: str, params: Mapping[str, Any] | None = None
) -> list[list[Any]]:
    """All rows of a query in a transaction."""
    return transaction.run(query, dict(params or {})).values()


def server_error(address: Address, error: Exception) -> StoreError:
    """What a reader is told when a server fails: never the query, its values or who asked."""
    at = address.shown
    code = getattr(error, "code", None) or ""
    for part, message, remedy in _CODES:
        if part in code:
            return StoreError(message.format(at=at, database=address.database or "its default"), remedy=remedy)
    for kind, message, remedy in _KINDS:
        if isinstance(error, kind):
            return StoreError(message.format(at=at), remedy=remedy)
    name = code.rpartition(".")[2] or type(error).__name__
    return StoreError(
        f"{at} could not do what was asked ({name}).", remedy="See the server's log; `python -m kgcore doctor` helps."
    )


_CODES = (
    ("Security.CredentialsExpired", "{at} wants the password changed first.", "Change it in Neo4j, then give the new."),
    (
        "Security.AuthenticationRateLimit",
        "{at} refuses logins for a while, after too many wrong ones.",
        "Correct the password, wait a minute, and try again.",
    ),
    ("Security.Unauthorized", "{at} does not accept this user and password.", "Correct the user or the password."),
    (
        "Security.Forbidden",
        "The user of {at} may not do this.",
        "Log in as a user who may, or grant it the rights to this database.",
    ),
    (
        "Database.DatabaseNotFound",
        "{at}: there is no database {database}.",
        "Correct the database's name at the end of the address; SHOW DATABASES lists them.",
    ),
    ("Database.DatabaseUnavailable", "{at}: the database is not running.", "START DATABASE, or wait until it is up."),
    ("General.DatabaseUnavailable", "{at}: the database is not running.", "START DATABASE, or wait until it is up."),
    (
        "TransactionTimedOut",
        "{at} took too long to answer.",
        "Narrow the filter or take fewer hops; check that its indexes are online.",
    ),
    (
        "MemoryPoolOutOfMemory",
        "{at} needs more memory for this than it may use.",
        "Narrow the filter, or raise the server's memory limits.",
    ),
    ("OutOfMemory", "{at} ran out of memory.", "Narrow the filter, or give the server more memory."),
    ("ReadOnly", "{at} can only be read.", "Write to the cluster's leader, or make the database writable."),
    ("Cluster.NotALeader", "{at} can only be read.", "Use a neo4j:// address, which finds the leader."),
    ("Statement.AccessMode", "{at} was asked to write while reading.", "This is a fault of Hopscope: report it."),
    ("Schema.ConstraintValidationFailed", "{at}: two nodes have the same id.", "Remove one, then try again."),
    (
        "Schema.TokenLengthError",
        "{at}: a label, type or property name is too long.",
        "Shorten it to some thousand characters.",
    ),
    (
        "Schema.IllegalTokenName",
        "{at}: a label, type or property has an empty name or a sign that is not allowed.",
        "Give it a name.",
    ),
    ("Statement.SyntaxError", "{at} does not know a word of the query.", "Use Neo4j 5.26 or later."),
    ("Transaction.Terminated", "{at} ended the query.", "Try again."),
)
_KINDS = (
    (faults.AuthError, "{at} does not accept this user and password.", "Correct the user or the password."),
    (
        faults.ServiceUnavailable,
        "{at} cannot be reached.",
        "Start the server, or correct the address; +ssc in the scheme accepts a certificate that it signed itself.",
    ),
    (faults.SessionExpired, "The connection to {at} was lost.", "Try again when the server is back."),
    (faults.IncompleteCommit, "{at} was lost while it saved.", "Run the write again: it ends in the same graph."),
    (faults.DriverError, "{at} cannot be reached.", "Start the server, or correct the address."),
)
