MATCH (n:`Entity`)-[r]-(o:`Entity`) WHERE CASE WHEN r.`allowed_principals` IS :: LIST<ANY> NOT NULL THEN any(x IN r.`allowed_principals` WHERE coalesce(x IN $f0, false)) ELSE false END WITH n, count(r) AS degree RETURN n.`id` AS id ORDER BY degree DESC, id LIMIT $k
// $f0 = ["user:ann", "group:all", "\u0001\"user:ann\"", "\u0001\"group:all\""]
// $plumbing = ["Entity", "EntityName"]
// $ignored = []
// $k = 3

OPTIONAL MATCH (m:`Hopscope`) WITH m LIMIT 1 CALL () { MATCH (n) RETURN count(n) AS nodes } CALL () { MATCH ()-[r]->() RETURN count(r) AS edges } CALL () { MATCH (n:`EntityName`) RETURN count(n) AS names } RETURN m.data_version, m.embedder, m.dimension, nodes, edges, names
