"""Graphs as others write them, in plain Cypher: one of each family, all of the same small world.

Ann Lee works at Acme, which uses Helios; what only the board may know is on relationships with another
`allowed_principals`, and each family has it once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import neo4j

from kgcore.store.neo4j_server import Address

QUESTION = "What system does Ann Lee's employer use?"
SEEN = "allowed_principals: ['all']"
HIDDEN = "allowed_principals: ['board']"


@dataclass(frozen=True, kw_only=True)
class Family:
    """How a graph is written (`cypher`, `indexes`) and what must be read from it.

    `mapping` are entries of the proposal. `facts` are the texts of all facts that the question is answered with in two
    hops, by whom everybody may see; `types` the entities' types by name; `passages` the texts behind the facts.
    """

    name: str
    cypher: tuple[str, ...]
    indexes: tuple[str, ...] = ()
    mapping: Mapping[str, Any] = field(default_factory=dict)
    facts: frozenset[str] = frozenset()
    types: Mapping[str, str] = field(default_factory=dict)
    passages: frozenset[str] = frozenset()
    dimension: int | None = None
    hidden: str = "Codename Bluebird"


TYPES = {"Ann Lee": "Person", "Acme": "Company", "Helios": "System"}

REFERENCE = Family(
    name="reference writer",
    cypher=(
        f"""
        CREATE (ann:Entity:Person {{id: 'p1', name: 'Ann Lee', embedding: [1.0, 0, 0, 0]}}),
          (acme:Entity:Company {{id: 'c1', name: 'Acme', embedding: [0, 1.0, 0, 0]}}),
          (helios:Entity:System {{id: 's1', name: 'Helios'}}),
          (spy:Entity:Person {{id: 'p9', name: 'Codename Bluebird', embedding: [1.0, 0, 0, 0]}}),
          (status:AttributeValue {{id: 's1::status::d2', value: 'Active'}}),
          (ann)-[:LIVES_IN {{src_name: 'Ann Lee', dst_name: 'Oslo', source_doc_id: 'd2', {SEEN}}}]->
            (:Entity:City {{id: 'o', name: 'Oslo'}}),
          (ann)-[:WORKS_AT {{src_name: 'Ann Lee', dst_name: 'Acme', source_doc_id: 'd1', source_doc_ids: ['d1'],
            description: 'since 2019', title: 'Report', year: 2024, embedding: [0, 0, 1.0, 0], {SEEN}}}]->(acme),
          (ann)-[:WORKS_AT {{src_name: 'A. Lee', dst_name: 'Acme', source_doc_id: 'd2', source_doc_ids: ['d2'],
            year: 2023, {SEEN}}}]->(acme),
          (acme)-[:USES {{src_name: 'Acme', dst_name: 'Helios', source_doc_id: 'd2', source_doc_ids: ['d2'],
            year: 2023, {SEEN}}}]->(helios),
          (helios)-[:HAS_ATTRIBUTE {{key: 'status', src_name: 'Helios', dst_name: 'Active', source_doc_id: 'd2',
            source_doc_ids: ['d2'], year: 2023, {SEEN}}}]->(status),
          (spy)-[:KNOWS {{src_name: 'Codename Bluebird', dst_name: 'Ann Lee', source_doc_id: 'd9',
            source_doc_ids: ['d9'], year: 2025, {HIDDEN}}}]->(ann)
        """,
    ),
    indexes=(
        "CREATE FULLTEXT INDEX entity_name FOR (n:Entity) ON EACH [n.name]",
        "CREATE INDEX entity_id FOR (n:Entity) ON (n.id)",
        "CREATE VECTOR INDEX entity_embedding FOR (n:Entity) ON (n.embedding) OPTIONS {indexConfig: "
        "{`vector.dimensions`: 4, `vector.similarity_function`: 'cosine'}}",
    ),
    mapping={
        "labels": ("Entity", "AttributeValue"),
        "id": "id",
        "names": ("name", "value"),
        "source_name": "src_name",
        "target_name": "dst_name",
        "description": "description",
        "key": "key",
        "document": "source_doc_id",
        "entity_vector": "embedding",
        "edge_vector": "embedding",
        "chunk_label": "",
    },
    facts=frozenset({"Ann Lee -[WORKS_AT]-> Acme: since 2019", "Acme -[USES]-> Helios"}),
    types={**TYPES, "Active": "AttributeValue"},
    dimension=4,
)

BUILDER = Family(
    name="LLM Graph Builder",
    cypher=(
        f"""
        CREATE (d:Document {{fileName: 'report.pdf', status: 'Completed', createdAt: datetime()}}),
          (c1:Chunk {{id: 'k1', text: 'Ann Lee works at Acme.', position: 1, fileName: 'report.pdf',
            embedding: [1.0, 0, 0, 0]}}),
          (c2:Chunk {{id: 'k2', text: 'Acme uses Helios.', position: 2, fileName: 'report.pdf',
            embedding: [0, 1.0, 0, 0]}}),
          (d)-[:FIRST_CHUNK]->(c1), (c1)-[:PART_OF]->(d), (c2)-[:PART_OF]->(d), (c1)-[:NEXT_CHUNK]->(c2),
          (c1)-[:SIMILAR {{score: 0.9}}]->(c2),
          (ann:__Entity__:Person {{id: 'Ann Lee', description: 'An engineer', embedding: [1.0, 0, 0, 0]}}),
          (acme:__Entity__:Company {{id: 'Acme', description: 'A company', embedding: [0, 1.0, 0, 0]}}),
          (helios:__Entity__:System {{id: 'Helios', embedding: [0, 0, 1.0, 0]}}),
          (spy:__Entity__:Person {{id: 'Codename Bluebird', embedding: [1.0, 0, 0, 0]}}),
          (t:__Community__ {{id: '0-1', level: 0, title: 'Ann and Acme', summary: 'They work.'}}),
          (ann)-[:IN_COMMUNITY]->(t), (acme)-[:IN_COMMUNITY]->(t),
          (c1)-[:HAS_ENTITY]->(ann), (c1)-[:HAS_ENTITY]->(acme), (c2)-[:HAS_ENTITY]->(acme),
          (c2)-[:HAS_ENTITY]->(helios),
          (ann)-[:WORKS_AT {{{SEEN}}}]->(acme), (acme)-[:USES {{{SEEN}}}]->(helios),
          (spy)-[:KNOWS {{{HIDDEN}}}]->(ann)
        """,
    ),
    indexes=(
        "CREATE FULLTEXT INDEX entities FOR (n:Person|Company|System) ON EACH [n.id, n.description]",
        "CREATE VECTOR INDEX vector FOR (n:Chunk) ON (n.embedding) OPTIONS {indexConfig: "
        "{`vector.dimensions`: 4, `vector.similarity_function`: 'cosine'}}",
        "CREATE VECTOR INDEX entity_vector FOR (n:__Entity__) ON (n.embedding) OPTIONS {indexConfig: "
        "{`vector.dimensions`: 4, `vector.similarity_function`: 'cosine'}}",
        "CREATE FULLTEXT INDEX keyword FOR (n:Chunk) ON EACH [n.text]",
    ),
    mapping={
        "labels": ("__Entity__",),
        "id": "id",
        "names": ("id",),
        "entity_vector": "embedding",
        "chunk_label": "Chunk",
        "chunk_id": "id",
        "chunk_text": "text",
        "chunk_document": "fileName",
        "chunk_vector": "embedding",
        "chunk_link": "HAS_ENTITY",
    },
    facts=frozenset({"Ann Lee -[WORKS_AT]-> Acme", "Acme -[USES]-> Helios"}),
    types=TYPES,
    passages=frozenset({"Ann Lee works at Acme.", "Acme uses Helios."}),
    dimension=4,
)

GRAPHRAG = Family(
    name="neo4j-graphrag",
    cypher=(
        f"""
        CREATE (d:__KGBuilder__:Document {{path: 'report.pdf', createdAt: '2024-05-01T10:00:00Z'}}),
          (c1:__KGBuilder__:Chunk {{index: 0, text: 'Ann Lee works at Acme.', embedding: [1.0, 0, 0, 0]}}),
          (c2:__KGBuilder__:Chunk {{index: 1, text: 'Acme uses Helios.', embedding: [0, 1.0, 0, 0]}}),
          (c1)-[:FROM_DOCUMENT]->(d), (c2)-[:FROM_DOCUMENT]->(d), (c1)-[:NEXT_CHUNK]->(c2),
          (ann:__KGBuilder__:__Entity__:Person {{name: 'Ann Lee'}}),
          (acme:__KGBuilder__:__Entity__:Company {{name: 'Acme', founded: 1999}}),
          (helios:__KGBuilder__:__Entity__:System {{name: 'Helios'}}),
          (spy:__KGBuilder__:__Entity__:Person {{name: 'Codename Bluebird'}}),
          (ann)-[:FROM_CHUNK]->(c1), (acme)-[:FROM_CHUNK]->(c1), (acme)-[:FROM_CHUNK]->(c2),
          (helios)-[:FROM_CHUNK]->(c2),
          (ann)-[:WORKS_AT {{since: date('2019-03-01'), {SEEN}}}]->(acme),
          (acme)-[:USES {{details: 'in production', {SEEN}}}]->(helios), (spy)-[:KNOWS {{{HIDDEN}}}]->(ann)
        """,
    ),
    indexes=(
        "CREATE VECTOR INDEX chunks FOR (n:Chunk) ON (n.embedding) OPTIONS {indexConfig: "
        "{`vector.dimensions`: 4, `vector.similarity_function`: 'cosine'}}",
    ),
    mapping={
        "labels": ("__Entity__",),
        "id": "",
        "names": ("name",),
        "entity_vector": "",
        "chunk_label": "Chunk",
        "chunk_id": "",
        "chunk_text": "text",
        "chunk_vector": "embedding",
        "chunk_link": "FROM_CHUNK",
    },
    facts=frozenset({"Ann Lee -[WORKS_AT]-> Acme", "Acme -[USES]-> Helios"}),
    types=TYPES,
    passages=frozenset({"Ann Lee works at Acme.", "Acme uses Helios."}),
)

LANGCHAIN = Family(
    name="LangChain",
    cypher=(
        f"""
        CREATE (d1:Document {{id: 'd1', text: 'Ann Lee works at Acme.', source: 'a.txt'}}),
          (d2:Document {{id: 'd2', text: 'Acme uses Helios.', source: 'b.txt'}}),
          (ann:__Entity__:Person {{id: 'Ann Lee'}}), (acme:__Entity__:Company {{id: 'Acme'}}),
          (helios:__Entity__:System {{id: 'Helios'}}), (spy:__Entity__:Person {{id: 'Codename Bluebird'}}),
          (d1)-[:MENTIONS]->(ann), (d1)-[:MENTIONS]->(acme), (d2)-[:MENTIONS]->(acme), (d2)-[:MENTIONS]->(helios),
          (ann)-[:WORKS_AT {{{SEEN}}}]->(acme), (acme)-[:USES {{{SEEN}}}]->(helios),
          (spy)-[:KNOWS {{{HIDDEN}}}]->(ann)
        """,
    ),
    mapping={
        "labels": ("__Entity__",),
        "id": "id",
        "names": ("id",),
        "chunk_label": "Document",
        "chunk_id": "id",
        "chunk_text": "text",
        "chunk_document": "source",
        "chunk_link": "MENTIONS",
    },
    facts=frozenset({"Ann Lee -[WORKS_AT]-> Acme", "Acme -[USES]-> Helios"}),
    types=TYPES,
    passages=frozenset({"Ann Lee works at Acme.", "Acme uses Helios."}),
)

GRAPHITI = Family(
    name="Graphiti",
    cypher=(
        f"""
        CREATE (e1:Episodic {{uuid: 'e1', name: 'first', content: 'Ann Lee works at Acme.', group_id: 'g'}}),
          (e2:Episodic {{uuid: 'e2', name: 'second', content: 'Acme uses Helios.', group_id: 'g'}}),
          (ann:Entity:Person {{uuid: 'u1', name: 'Ann Lee', summary: 'Ann is an engineer.', group_id: 'g',
            name_embedding: [1.0, 0, 0, 0]}}),
          (acme:Entity:Company {{uuid: 'u2', name: 'Acme', summary: '', name_embedding: [0, 1.0, 0, 0]}}),
          (helios:Entity:System {{uuid: 'u3', name: 'Helios', name_embedding: [0, 0, 1.0, 0]}}),
          (spy:Entity:Person {{uuid: 'u9', name: 'Codename Bluebird', name_embedding: [1.0, 0, 0, 0]}}),
          (both:Community {{uuid: 'm1', name: 'Ann and Acme', summary: 'They work.'}}),
          (both)-[:HAS_MEMBER {{uuid: 'h1'}}]->(ann),
          (e1)-[:MENTIONS {{uuid: 'm1'}}]->(ann), (e1)-[:MENTIONS {{uuid: 'm2'}}]->(acme),
          (e1)-[:MENTIONS {{uuid: 'm5'}}]->(helios),
          (e2)-[:MENTIONS {{uuid: 'm3'}}]->(acme), (e2)-[:MENTIONS {{uuid: 'm4'}}]->(helios),
          (ann)-[:RELATES_TO {{uuid: 'r1', name: 'WORKS_AT', fact: 'Ann Lee works at Acme', episodes: ['e1'],
            fact_embedding: [1.0, 0, 0, 0], valid_at: datetime('2019-03-01T00:00:00Z'),
            created_at: datetime('2024-05-01T10:00:00.5+02:00'), {SEEN}}}]->(acme),
          (acme)-[:RELATES_TO {{uuid: 'r2', name: 'USES', fact: 'Acme uses the system Helios', episodes: ['e2'],
            fact_embedding: [0, 1.0, 0, 0], valid_at: datetime('2024-01-01T00:00:00Z'),
            invalid_at: datetime('2025-01-01T00:00:00Z'), {SEEN}}}]->(helios),
          (spy)-[:RELATES_TO {{uuid: 'r9', name: 'KNOWS', fact: 'Bluebird knows Ann', episodes: ['e9'],
            {HIDDEN}}}]->(ann)
        """,
    ),
    indexes=(
        "CREATE FULLTEXT INDEX node_name_and_summary FOR (n:Entity) ON EACH [n.name, n.summary, n.group_id]",
        "CREATE FULLTEXT INDEX edge_name_and_fact FOR ()-[e:RELATES_TO]-() ON EACH [e.name, e.fact, e.group_id]",
        "CREATE INDEX entity_uuid FOR (n:Entity) ON (n.uuid)",
    ),
    mapping={
        "labels": ("Entity",),
        "id": "uuid",
        "names": ("name",),
        "edge_id": "uuid",
        "relation": "name",
        "ignored": ("HAS_MEMBER", "MENTIONS"),
        "description": "fact",
        "entity_vector": "name_embedding",
        "edge_vector": "fact_embedding",
        "chunk_label": "Episodic",
        "chunk_id": "uuid",
        "chunk_text": "content",
        "chunk_link": "MENTIONS",
    },
    facts=frozenset(
        {
            "Ann Lee -[WORKS_AT]-> Acme: Ann Lee works at Acme",
            "Acme -[USES]-> Helios: Acme uses the system Helios",
        }
    ),
    types=TYPES,
    passages=frozenset({"Ann Lee works at Acme.", "Acme uses Helios."}),
    dimension=4,
)

PLAIN = Family(
    name="named nodes",
    cypher=(
        f"""
        CREATE (ann:Person {{name: 'Ann Lee', born: date('1990-02-03')}}), (acme:`Company "Ltd"` {{name: 'Acme'}}),
          (helios:`Систе``ма` {{title: 'Helios'}}), (spy:Person {{name: 'Codename Bluebird'}}),
          (kim1:Person {{name: 'Alex Kim'}}), (kim2:Person {{name: 'Alex Kim'}}),
          (oslo:City {{name: '東京タワー', at: point({{latitude: 59.9, longitude: 10.7}})}}),
          (nobody:Person {{age: 3}}), (n1:Note {{number: 1}}), (nobody)-[:`works at`]->(acme), (n1)-[:ABOUT]->(ann),
          (ann)-[:`works at` {{since: date('2024-03-01'), {SEEN}}}]->(acme),
          (ann)-[:`works at` {{since: date('2019-03-01'), hours: duration('P1DT2H30M'), {SEEN}}}]->(acme),
          (acme)-[:`uses ``it`` \\u005Cu0060` {{evidence: 'in production', place: point({{x: 1.5, y: -2}}),
            until: datetime('2024-01-01T00:00:00Z'), met: localdatetime('2023-12-31T23:59:00'),
            clock: time('10:00:00.250+02:00'), days: [date('2024-01-01'), date('2023-01-01')], {SEEN}}}]->(helios),
          (kim1)-[:работает {{start: datetime('2024-05-01T10:00:00[Europe/Berlin]'), {SEEN}}}]->(acme),
          (kim2)-[:работает {{start: localtime('09:30'), {SEEN}}}]->(acme),
          (ann)-[:KNOWS {{{SEEN}}}]->(kim1), (kim1)-[:KNOWS {{{SEEN}}}]->(ann), (acme)-[:OWNS {{{SEEN}}}]->(acme),
          (kim2)-[:MET {{{SEEN}}}]->(ann), (kim2)-[:MET {{{SEEN}}}]->(ann),
          (helios)-[:`стоит в` {{{SEEN}, place: point({{latitude: 59.9, longitude: 10.7, height: 3}})}}]->(oslo),
          (spy)-[:KNOWS {{{HIDDEN}, since: date('2025-01-01'), cover: 'Ann'}}]->(ann)
        """,
    ),
    mapping={
        "labels": ("City", 'Company "Ltd"', "Person", "Систе`ма"),
        "id": "",
        "names": ("name", "title"),
        "edge_id": "",
        "relation": "",
        "description": "evidence",
        "document": "",
        "entity_vector": "",
        "chunk_label": "",
    },
    facts=frozenset({"Ann Lee -[works at]-> Acme", "Acme -[uses `it` \\u0060]-> Helios: in production"}),
    types={"Ann Lee": "Person", "Acme": 'Company "Ltd"', "Helios": "Систе`ма", "東京タワー": "City"},
)

FAMILIES = (REFERENCE, BUILDER, GRAPHRAG, LANGCHAIN, GRAPHITI, PLAIN)

NAMELESS = ("CREATE (:Reading {value: 1.5, at: datetime()})-[:AFTER]->(:Reading {value: 2, code: 7})",)
"""A graph without any name."""


@contextmanager
def session(address: str) -> Iterator[neo4j.Session]:
    """A session that may write, beside any store."""
    parsed = Address.parse(address)
    with neo4j.GraphDatabase.driver(
        parsed.uri, auth=(parsed.user, parsed.password), notifications_min_severity="OFF"
    ) as driver:
        with driver.session() as opened:
            yield opened


def build(address: str, *cypher: str) -> None:
    """Runs statements, then waits for the indexes."""
    with session(address) as opened:
        for statement in cypher:
            opened.run(statement).consume()
        opened.run("CALL db.awaitIndexes(60)").consume()


def cleared(address: str) -> None:
    """Removes everything from a database, its constraints and indexes too: a family has its own."""
    with session(address) as opened:
        opened.run("MATCH (n) DETACH DELETE n").consume()
        for row in opened.run("SHOW CONSTRAINTS YIELD name").data():
            opened.run(f"DROP CONSTRAINT `{row['name']}`").consume()
        for row in opened.run("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'").data():
            opened.run(f"DROP INDEX `{row['name']}`").consume()


def snapshot(address: str) -> dict[str, Any]:
    """All that a database holds: nodes and relationships with every value, and the names of its schema."""
    asked = {
        "nodes": "MATCH (n) RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS held ORDER BY id",
        "edges": "MATCH ()-[r]->() RETURN elementId(r) AS id, type(r) AS type, properties(r) AS held ORDER BY id",
        "labels": "CALL db.labels() YIELD label RETURN label ORDER BY label",
        "types": "CALL db.relationshipTypes() YIELD relationshipType AS type RETURN type ORDER BY type",
        "keys": "CALL db.propertyKeys() YIELD propertyKey AS key RETURN key ORDER BY key",
        "indexes": "SHOW INDEXES YIELD name, type, labelsOrTypes, properties RETURN * ORDER BY name",
        "constraints": "SHOW CONSTRAINTS YIELD name RETURN name ORDER BY name",
    }
    with session(address) as opened:
        return {name: opened.run(statement).data() for name, statement in asked.items()}
