OPTIONAL MATCH (m:`Hopscope`) WITH m LIMIT 1 CALL () { MATCH (n) RETURN count(n) AS nodes } CALL () { MATCH ()-[r]->() RETURN count(r) AS edges } CALL () { MATCH (n:`Person`|`Odd ``label```) RETURN count(n) AS names } RETURN m.data_version, m.embedder, m.dimension, nodes, edges, names

MATCH (n:`Person`|`Odd ``label```) WHERE true RETURN elementId(n), coalesce(toStringOrNull(n.`name`), toStringOrNull(n.`title`), elementId(n))
