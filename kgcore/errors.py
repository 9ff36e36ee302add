"""Every error that kgcore raises.

    KgError
    ├── FilterError     a filter that the grammar does not allow, with the path to the fault
    ├── StoreError      a store that cannot be opened, read or written
    ├── ModelError      a model that is missing, unreachable, or answers nonsense
    ├── ConfigError     a setting or an argument out of its bounds
    ├── IngestError     a file or a record that cannot be imported
    └── QueryError      a Cypher query that may not, or cannot, be run

Each carries `remedy`: what the reader can do next. `str(error)` is the message alone.
"""

from __future__ import annotations


class KgError(Exception):
    """The root. `remedy` is one sentence that says what to do next."""

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


class FilterError(KgError):
    """`path` says where in the filter, such as `conditions[1].operator`; "" is the whole."""

    def __init__(self, message: str, *, remedy: str, path: str) -> None:
        super().__init__(message, remedy=remedy)
        self.path = path


class StoreError(KgError):
    """A store is missing, foreign, held by somebody else, or refuses."""


class ModelError(KgError):
    """A model is missing, unreachable, or its answer cannot be used.

    `wait` is the seconds after which the same call may succeed, 0 if the server does not say; None: it will not.
    """

    def __init__(self, message: str, *, remedy: str, wait: float | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.wait = wait


class ConfigError(KgError):
    """A setting or an argument is out of its bounds; `field` names it where there is one."""

    def __init__(self, message: str, *, remedy: str, field: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.field = field


class IngestError(KgError):
    """An input cannot be imported; the message names the file and the line."""


class QueryError(KgError):
    """A Cypher query is refused, wrong, too much, or took too long."""
