OPTIONAL MATCH (m:`Hopscope`) WITH m LIMIT 1 CALL () { MATCH (n) RETURN count(n) AS nodes } CALL () { MATCH ()-[r]->() RETURN count(r) AS edges } CALL () { MATCH (n:`EntityName`) RETURN count(n) AS names } RETURN m.data_version, m.embedder, m.dimension, nodes, edges, names

CALL db.index.vector.queryNodes($index, $asked, $vector) YIELD node AS n  WITH n, vector.similarity.cosine(n.`embedding`, $vector) AS score ORDER BY score DESC LIMIT $size RETURN n.`id`, n.name, n.`embedding`, 2 * score - 1
// $vector = [1.0, 0.0]
// $size = 32
// $asked = 200
// $dimension = 2
// $index = "entity_embedding"
