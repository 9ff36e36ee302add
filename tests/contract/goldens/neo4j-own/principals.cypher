OPTIONAL MATCH (m:`Hopscope`) WITH m LIMIT 1 CALL () { MATCH (n) RETURN count(n) AS nodes } CALL () { MATCH ()-[r]->() RETURN count(r) AS edges } CALL () { MATCH (n:`EntityName`) RETURN count(n) AS names } RETURN m.data_version, m.embedder, m.dimension, nodes, edges, names

MATCH (a:`Entity`)-[r]->(b:`Entity`) WHERE true WITH r[$field] AS held WHERE held IS NOT NULL RETURN held, valueType(held) AS kind, count(*)
// $plumbing = ["Entity", "EntityName"]
// $ignored = []
// $field = "allowed_principals"
