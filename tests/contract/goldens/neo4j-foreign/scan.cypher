OPTIONAL MATCH (m:`Hopscope`) WITH m LIMIT 1 CALL () { MATCH (n) RETURN count(n) AS nodes } CALL () { MATCH ()-[r]->() RETURN count(r) AS edges } CALL () { MATCH (n:`Person`|`Odd ``label```) RETURN count(n) AS names } RETURN m.data_version, m.embedder, m.dimension, nodes, edges, names

MATCH (a:`Person`|`Odd ``label```)-[r]->(b:`Person`|`Odd ``label```) WHERE true AND NOT type(r) IN $ignored RETURN [elementId(startNode(r)), elementId(endNode(r)), type(r), coalesce(toStringOrNull(startNode(r).`name`), toStringOrNull(startNode(r).`title`), elementId(startNode(r))), coalesce(toStringOrNull(endNode(r).`name`), toStringOrNull(endNode(r).`title`), elementId(endNode(r))), properties(r), null, elementId(r)], elementId(r)
// $plumbing = []
// $ignored = ["SIMILAR"]

MATCH (n:`Person`|`Odd ``label```) WHERE elementId(n) IN $ids RETURN elementId(n), coalesce(toStringOrNull(n.`kind`), head([l IN labels(n) WHERE NOT l IN $plumbing]), head(labels(n)), '')
// $plumbing = []
// $ignored = ["SIMILAR"]
// $ids = []

MATCH (n:`Person`|`Odd ``label```) WHERE elementId(n) IN $ids AND null IS NOT NULL RETURN elementId(n), coalesce(toStringOrNull(n.`name`), toStringOrNull(n.`title`), elementId(n)), null
// $ids = []
