"""What the self-check looks at in a Neo4j server."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from neo4j.exceptions import Neo4jError

from kgcore.doctor_store import Check, GraphChecks, Steps, passed
from kgcore.errors import KgError, StoreError
from kgcore.filters.cypher import quoted
from kgcore.store.neo4j import NeoStore
from kgcore.store.neo4j_names import EXACT
from kgcore.store.neo4j_server import Address, NeoServer
from kgcore.store.neo4j_write import SCHEMA

OLDEST = (5, 26)
"""The first version of Neo4j that everything works on."""


class ServerChecks(GraphChecks):
    """A Neo4j database."""

    fault: KgError | None = None

    def steps(self) -> Steps:
        return (
            ("Address", self.address),
            ("Login", self.login),
            ("Database", self.database),
            ("Version", self.version),
            ("Layout", self.layout),
            ("Index on names", self.names),
            ("Index on names' vectors", self.name_vectors),
            ("Index on passages' vectors", self.passage_vectors),
            *super().steps(),
        )

    def address(self, name: str) -> Check:

        address = Address.parse(self.url, user=self.options.get("user", ""), password=self.options.get("password", ""))
        self.server = NeoServer(address)
        try:
            self.server.rows("RETURN 1")
        except StoreError as error:
            self.fault = error
            if not isinstance(error.__cause__, Neo4jError):
                raise
        return passed(name, f"{address.shown} answers.")

    def login(self, name: str) -> Check:
        code = str(getattr(self.fault and self.fault.__cause__, "code", ""))
        if self.fault and ".Security." in code and "Forbidden" not in code:
            raise self.fault
        return passed(name, "The user and the password are accepted.")

    def database(self, name: str) -> Check:
        if self.fault:
            raise self.fault
        database = self.server.rows("CALL db.info() YIELD name")[0][0]
        self.server.rows("MATCH (n) RETURN n LIMIT 1")  # which a user without the right to read may not
        rows = self.server.rows("SHOW DATABASES YIELD name, access WHERE name = $name", {"name": database})
        access = sorted({str(row[1]) for row in rows})
        return passed(name, f"{database} can be read{f'; its access is {access[0]}' if access else ''}.")

    def version(self, name: str) -> Check:
        version, edition = self.server.components()
        numbers = re.match(r"(\d+)\.(\d+)", version)
        if not numbers or (int(numbers[1]), int(numbers[2])) < OLDEST:
            raise StoreError(f"This is Neo4j {version or 'of an unknown version'}.", remedy="Use Neo4j 5.26 or later.")
        return passed(name, f"Neo4j {version}, {edition} edition.")

    def layout(self, name: str) -> Check:

        opened = self.store
        assert isinstance(opened, NeoStore)
        self.neo, self.indexes = opened, opened.server.indexes()
        mapping, found = opened.layout.mapping, opened.state.names
        if opened.layout.own:
            if found:
                return passed(name, "Hopscope's own.")
            return Check(
                name=name, state="warn", said="The database is empty.", remedy="Copy or import a graph into it."
            )
        saved = self.options.get("mapping_file")
        how = "a saved" if saved and Path(saved).is_file() else "the proposed"
        labels = f"labels {', '.join(mapping.labels)}" if mapping.labels else "every node with a name"
        said = f"Built by others, read by {how} mapping: {labels}; names in {', '.join(mapping.names) or 'none'}."
        if found:
            return passed(name, said)
        return Check(
            name=name, state="warn", said=f"{said} No node is like that.", remedy="Correct the mapping on Settings."
        )

    def names(self, name: str) -> Check:
        mapping, own = self.neo.layout.mapping, self.neo.layout.own
        labels, properties = (("EntityName",), ("words",)) if own else (mapping.labels, mapping.names)
        if not labels or len(properties) != 1:
            return passed(name, "None serves names of several properties or any label: names are read one by one.")
        return self._index(name, "FULLTEXT", labels, properties[0])

    def name_vectors(self, name: str) -> Check:
        mapping = self.neo.layout.mapping
        label = "EntityName" if self.neo.layout.own else next(iter(mapping.labels), "")
        return self._index(name, "VECTOR", (label,), mapping.entity_vector)

    def passage_vectors(self, name: str) -> Check:
        mapping = self.neo.layout.mapping
        return self._index(name, "VECTOR", (mapping.chunk_label,), mapping.chunk_vector)

    def _index(self, name: str, kind: str, labels: Sequence[str], property: str) -> Check:
        """Whether one of the server's indexes is what reading looks for; without it everything is read one by one."""

        dimension = self.neo.state.dimension if kind == "VECTOR" else None
        if kind == "VECTOR" and not (dimension and labels[0] and property):
            return passed(name, "None is needed: there are no vectors.")
        found = [
            index
            for _, index in sorted(self.indexes.items())
            if index.kind == kind
            and index.on_nodes
            and set(labels) <= set(index.labels)
            and property in index.properties
        ]
        make = _statement(kind, labels, property, dimension, own=self.neo.layout.own)
        fitting = [index for index in found if dimension is None or index.dimension == dimension]
        if online := next((index for index in fitting if index.online), None):
            return passed(name, f"{online.name} is online.")
        if fitting and fitting[0].state == "POPULATING":
            said = f"{fitting[0].name} is still being built: {fitting[0].populated:.0f} %."
            return Check(name=name, state="warn", said=said, remedy="Wait; CALL db.awaitIndexes() returns when it is.")
        if fitting:
            said = f"{fitting[0].name} is {fitting[0].state.lower()}, so it is not used."
            return Check(name=name, state="warn", said=said, remedy=f"Drop it and make it again: {make}")
        if found:
            said = f"{found[0].name} is for {found[0].dimension} numbers, and the graph's vectors have {dimension}."
            return Check(name=name, state="warn", said=said, remedy=f"Drop it and make it again: {make}")
        if self.neo.state.names <= EXACT:
            return passed(name, "There is none, and so small a graph needs none.")
        return Check(name=name, state="warn", said="There is none: all are read one by one.", remedy=f"Make it: {make}")

    def close(self) -> None:
        super().close()
        if hasattr(self, "server"):
            self.server.close()


def _statement(kind: str, labels: Sequence[str], property: str, dimension: int | None, *, own: bool) -> str:

    node = f"(n:{'|'.join(quoted(label) for label in labels)})"
    if kind == "FULLTEXT":
        return SCHEMA["entity_name"] if own else f"CREATE FULLTEXT INDEX FOR {node} ON EACH [n.{quoted(property)}]"
    settings = f"{{`vector.dimensions`: {dimension}, `vector.similarity_function`: 'cosine'}}"
    return f"CREATE VECTOR INDEX FOR {node} ON (n.{quoted(property)}) OPTIONS {{indexConfig: {settings}}}"
