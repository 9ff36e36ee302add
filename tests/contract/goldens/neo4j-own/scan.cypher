MATCH (a:`Entity`)-[r]->(b:`Entity`) WHERE CASE WHEN r.`allowed_principals` IS :: LIST<ANY> NOT NULL THEN any(x IN r.`allowed_principals` WHERE coalesce(x IN $f0, false)) ELSE false END AND ($after IS NULL OR r.id > $after) WITH toString(r.`id`) AS id WHERE $after IS NULL OR id > $after RETURN DISTINCT id ORDER BY id LIMIT $limit
// $f0 = ["user:ann", "group:all", "\u0001\"user:ann\"", "\u0001\"group:all\""]
// $plumbing = ["Entity", "EntityName"]
// $ignored = []
// $after = "e1"
// $limit = 10

OPTIONAL MATCH (m:`Hopscope`) WITH m LIMIT 1 CALL () { MATCH (n) RETURN count(n) AS nodes } CALL () { MATCH ()-[r]->() RETURN count(r) AS edges } CALL () { MATCH (n:`EntityName`) RETURN count(n) AS names } RETURN m.data_version, m.embedder, m.dimension, nodes, edges, names

MATCH (n:`Entity`) WHERE n.`id` IN $ids RETURN n.`id`, coalesce(toStringOrNull(n.`type`), head([l IN labels(n) WHERE NOT l IN $plumbing]), head(labels(n)), '')
// $plumbing = ["Entity", "EntityName"]
// $ignored = []
// $ids = []

MATCH (n:`EntityName`) WHERE n.`id` IN $ids AND n.`embedding` IS NOT NULL RETURN n.`id`, n.name, n.`embedding`
// $ids = []
