MATCH (n:`Person`|`Odd ``label```)-[r]-(o:`Person`|`Odd ``label```) WHERE CASE WHEN r.`allowed_principals` IS :: LIST<ANY> NOT NULL THEN any(x IN r.`allowed_principals` WHERE coalesce((CASE WHEN x IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(x) ELSE x END) IN $f0, false)) ELSE false END AND NOT type(r) IN $ignored WITH n, count(r) AS degree RETURN elementId(n) AS id ORDER BY degree DESC, id LIMIT $k
// $f0 = ["user:ann", "group:all", "\u0001\"user:ann\"", "\u0001\"group:all\""]
// $plumbing = []
// $ignored = ["SIMILAR"]
// $k = 3

OPTIONAL MATCH (m:`Hopscope`) WITH m LIMIT 1 CALL () { MATCH (n) RETURN count(n) AS nodes } CALL () { MATCH ()-[r]->() RETURN count(r) AS edges } CALL () { MATCH (n:`Person`|`Odd ``label```) RETURN count(n) AS names } RETURN m.data_version, m.embedder, m.dimension, nodes, edges, names
