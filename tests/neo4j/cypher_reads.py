"""Reading queries over the demo that a real Neo4j answers too. `ORDER BY` fixes an order; without it rows are a set."""

from __future__ import annotations

READS = (
    # Matching
    "MATCH (n) RETURN count(n) AS n",
    "MATCH (n:Person) RETURN count(n) AS n",
    "MATCH (n:Entity:Person) RETURN count(n) AS n",
    "MATCH (n:Person|System) RETURN count(n) AS n",
    "MATCH (n:Nothing) RETURN n",
    "MATCH ()-[r]->() RETURN count(r) AS n",
    "MATCH ()-[r]-() RETURN count(r) AS n",
    "MATCH (n {id: 'helios'}) RETURN n",
    "MATCH (n:System {name: 'Helios'})<-[r:USES]-(o) RETURN o.name AS name, r.source_doc_id AS doc ORDER BY name, doc",
    "MATCH (a)-[r:USES]->(b) RETURN a, r, b",
    "MATCH (a)-[r:USES|STORES]->(b) RETURN type(r) AS kind, count(*) AS n ORDER BY kind",
    "MATCH (a)-[r]->(b) WHERE type(r) IN ['USES', 'STORES'] RETURN count(*) AS n",
    "MATCH (a:Person)-[:WORKS_AT]->(b)-[:USES]->(c) RETURN DISTINCT c.name AS name ORDER BY name",
    "MATCH (a:Person)-[:WORKS_AT]->()<-[:WORKS_AT]-(b:Person) WHERE a.id < b.id RETURN count(DISTINCT "
    "a.id + b.id) AS n",
    "MATCH (a:Person)-[:REPORTS_TO*1..3]->(b) RETURN a.name AS a, b.name AS b",
    "MATCH p = (a:Person)-[:REPORTS_TO*2]->(b) RETURN p",
    "MATCH p = (a:Organization)-[:USES]->(s)-[:STORES]->(d) RETURN length(p) AS hops, count(*) AS n",
    "MATCH p = (a {id: 'helios'})-[*1..2]-(b) RETURN count(p) AS n",
    "MATCH p = shortestPath((a {id: 'jane-doe'})-[*..5]-(b {id: 'helios'})) RETURN length(p) AS n",
    "MATCH (a {name: $name}) RETURN a.id AS id ORDER BY id",
    "MATCH (n) WHERE n.id IN $ids RETURN n ORDER BY n.id",
    # Conditions
    "MATCH (n) WHERE n.name STARTS WITH 'A' RETURN n.name AS name ORDER BY name",
    "MATCH (n) WHERE n.name ENDS WITH 's' RETURN count(n) AS n",
    "MATCH (n) WHERE n.name CONTAINS 'Cap' RETURN n.name AS name ORDER BY name",
    "MATCH (n) WHERE n.name =~ '(?i)h.*s' RETURN n.name AS name ORDER BY name",
    "MATCH (n:Person) WHERE NOT (n)-[:MANAGES]->() RETURN n.name AS name ORDER BY name",
    "MATCH (n:Organization) WHERE (n)-[:USES]->(:System) RETURN n.name AS name ORDER BY name",
    "MATCH (n:Organization) WHERE EXISTS { (n)-[:USES]->(s) WHERE s.name = 'Helios' } RETURN n.name AS "
    "name ORDER BY name",
    "MATCH ()-[r]->() WHERE r.year IS NULL RETURN count(r) AS n",
    "MATCH ()-[r]->() WHERE r.year IS NOT NULL AND r.year >= 2024 RETURN count(r) AS n",
    "MATCH ()-[r]->() WHERE r.year <> 2024 RETURN count(r) AS n",
    "MATCH ()-[r]->() WHERE r.year = 2024.0 RETURN count(r) AS n",
    "MATCH ()-[r]->() WHERE r.year = '2024' RETURN count(r) AS n",
    "MATCH ()-[r]->() WHERE r.year > 2020 XOR r.kind = 'report' RETURN count(r) AS n",
    "MATCH (n)-[r:HAS_ATTRIBUTE {key: 'founded'}]->(v) RETURN n.name AS name, v.name AS value ORDER BY name, value",
    "MATCH (n)-[r:HAS_ATTRIBUTE]->(v) RETURN r.key AS key, count(*) AS n ORDER BY n DESC, key",
    # Aggregation
    "MATCH (n) RETURN [x IN labels(n) WHERE x <> 'Entity'][0] AS label, count(*) AS n ORDER BY n DESC, label",
    "MATCH (n)-[r]-() RETURN n.name AS name, count(r) AS n ORDER BY n DESC, name LIMIT 10",
    "MATCH (n)-[r]-() WITH n, count(r) AS edges WHERE edges > 5 RETURN n.name AS name, edges ORDER BY edges DESC, name",
    "MATCH (o:Organization)-[:USES]->(s) RETURN o.name AS name, collect(DISTINCT s.name) AS systems ORDER BY name",
    "MATCH ()-[r]->() RETURN min(r.year) AS first, max(r.year) AS last, avg(r.year) AS mean, sum(r.year) AS sum",
    "MATCH ()-[r]->() RETURN count(DISTINCT r.source_doc_id) AS docs",
    "MATCH ()-[r]->() WITH DISTINCT r.year AS year WHERE year IS NOT NULL RETURN collect(year) AS years",
    "MATCH (n:Nothing) RETURN count(n) AS n, sum(n.x) AS s, collect(n) AS c, max(n.x) AS m",
    "MATCH ()-[r]->() WHERE r.year IS NOT NULL RETURN stDev(r.year) > 0 AS spread",
    "MATCH (n:Person) RETURN count(*) AS n, count(n.nothing) AS none",
    # Optional, subqueries, unions, lists
    "MATCH (p:Person) OPTIONAL MATCH (p)-[:LEADS]->(t) RETURN p.name AS p, t.name AS t ORDER BY p, t",
    "MATCH (p:Person) OPTIONAL MATCH (p)-[:LEADS]->(t) RETURN p.name AS p, count(t) AS n ORDER BY n DESC, p LIMIT 5",
    "MATCH (o:Organization) CALL (o) { MATCH (o)-[:USES]->(s) RETURN count(s) AS n } RETURN o.name AS "
    "name, n ORDER BY name",
    "MATCH (n:Fund) RETURN n.name AS name UNION MATCH (n:Project) RETURN n.name AS name",
    "MATCH (n:Fund) RETURN n.name AS name UNION ALL MATCH (n:Fund) RETURN n.name AS name",
    "UNWIND [3, 1, 2] AS x RETURN x ORDER BY x DESC",
    "UNWIND range(1, 5) AS x WITH x WHERE x % 2 = 1 RETURN sum(x) AS odd",
    "RETURN [x IN range(1, 5) WHERE x > 2 | x * x] AS squares",
    "RETURN reduce(total = 0, x IN [1, 2, 3] | total + x) AS total",
    "MATCH (o:Organization {name: 'Acme Capital'}) RETURN size([(o)-[:USES]->(s) | s.name]) AS n",
    "MATCH (o:Organization) WHERE COUNT { (o)-[:USES]->() } > 1 RETURN o.name AS name ORDER BY name",
    "RETURN any(x IN [1, 2] WHERE x = 2) AS a, all(x IN [1, 2] WHERE x > 0) AS b, none(x IN [1] WHERE x = 2) AS c",
    "RETURN single(x IN [1, 2] WHERE x = 2) AS a",
    "MATCH p = (a {id: 'jane-doe'})-[:WORKS_AT]->(b) RETURN [n IN nodes(p) | n.name] AS names, "
    "size(relationships(p)) AS n",
    # Values
    "RETURN 1 + 2 * 3 AS a, 7 / 2 AS b, 7 % 4 AS c, 2 ^ 10 AS d, -7 / 2 AS e, 7.0 / 2 AS f",
    "RETURN toUpper('aé') AS a, toLower('AÉ') AS b, trim('  x ') AS c, replace('aba', 'b', 'c') AS d, "
    "split('a,b', ',') AS e",
    "RETURN substring('abcdef', 1, 3) AS a, left('abc', 2) AS b, right('abc', 2) AS c, size('héé') AS "
    "d, reverse('abc') AS e",
    "RETURN toInteger('42') AS a, toFloat('1.5') AS b, toString(7) AS c, toInteger('x') AS d, toBoolean('true') AS e",
    "RETURN coalesce(null, 'x') AS a, null = null AS b, null IS NULL AS c, 1 IN [1, null] AS d, 2 IN [1, null] AS e",
    "RETURN CASE WHEN 1 > 2 THEN 'a' ELSE 'b' END AS a, CASE 2 WHEN 2 THEN 'two' END AS b",
    "RETURN abs(-3) AS a, ceil(1.2) AS b, floor(1.8) AS c, round(2.5) AS d, sqrt(16) AS e, sign(-2) AS f",
    "RETURN head([1, 2]) AS a, last([1, 2]) AS b, tail([1, 2, 3]) AS c, [1, 2, 3][-1] AS d, [1, 2, "
    "3][1..] AS e, [1] + [2] AS f",
    "RETURN {a: 1, b: [true, null]} AS map, keys({b: 1}) AS names",
    "RETURN 'it\\'s' = \"it's\" AS a, 'tab\\t' AS b, 'a' + 'b' AS c, 'x' < 'y' AS d",
    "MATCH (n:Person {name: 'Jane Doe'}) RETURN n {.id, .name} AS map",
    "MATCH (n:System)-[r:SUPPLIED_BY]->(s) RETURN startNode(r) = n AS a, endNode(r).name = s.name AS b, "
    "r.src_name = n.name AS c",
    "MATCH ()-[r:USES]->() RETURN properties(r).source_doc_id AS doc, r.description AS text ORDER BY doc, text",
    "MATCH (n:Person) RETURN n.name AS name ORDER BY name SKIP 3 LIMIT 4",
    "MATCH (n:Person) WITH n ORDER BY n.name DESC LIMIT 3 RETURN collect(n.name) AS names",
)

PARAMETERS = {"name": "Jane Doe", "ids": ["helios", "acme-capital", "nobody"]}

DIFFERENCES = {
    "RETURN round(-1.5) AS x": (-2.0, -1.0),
    "RETURN 1.0 / 0 AS x": (None, float("inf")),
    "MATCH (n {id: 'helios'}) RETURN n.title + ', ' + n.type AS x": ("Helios, System", None),
    "MATCH (n {id: 'helios'}) RETURN labels(n) AS x": (["System", "Entity"], ["Entity", "System"]),
    "MATCH (n {id: 'helios'}) RETURN id(n) = 'helios' AS x": (True, False),
}
"""Where a projection answers otherwise: its answer and Neo4j's, as docs/cypher.md says."""
