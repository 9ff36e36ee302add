OPTIONAL MATCH (m:`Hopscope`) WITH m LIMIT 1 CALL () { MATCH (n) RETURN count(n) AS nodes } CALL () { MATCH ()-[r]->() RETURN count(r) AS edges } CALL () { MATCH (n:`Person`|`Odd ``label```) RETURN count(n) AS names } RETURN m.data_version, m.embedder, m.dimension, nodes, edges, names

MATCH (a:`Person`|`Odd ``label```)-[r]->(b:`Person`|`Odd ``label```) WHERE true AND NOT type(r) IN $ignored WITH (CASE WHEN r[$field] IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r[$field]) ELSE r[$field] END) AS held WHERE held IS NOT NULL RETURN held, valueType(held) AS kind, count(*)
// $plumbing = []
// $ignored = ["SIMILAR"]
// $field = "allowed_principals"
