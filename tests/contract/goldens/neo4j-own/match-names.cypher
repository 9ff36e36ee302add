MATCH (n:`EntityName`) WHERE n.mention IN $mentions RETURN n.`id`, n.name
// $mentions = ["acme and co", "re"]

OPTIONAL MATCH (m:`Hopscope`) WITH m LIMIT 1 CALL () { MATCH (n) RETURN count(n) AS nodes } CALL () { MATCH ()-[r]->() RETURN count(r) AS edges } CALL () { MATCH (n:`EntityName`) RETURN count(n) AS names } RETURN m.data_version, m.embedder, m.dimension, nodes, edges, names

UNWIND $queries AS query CALL db.index.fulltext.queryNodes($index, query, {limit: $limit}) YIELD node AS n RETURN DISTINCT n.`id`, n.name
// $queries = ["+\"acme\" +\"and\" +\"co\""]
// $index = "entity_name"
// $limit = 20000

UNWIND $queries AS query CALL db.index.fulltext.queryNodes($index, query, {limit: $limit}) YIELD node AS n RETURN DISTINCT n.`id`, n.name
// $queries = ["+/a.{2,4}/ +\"and\" +\"co\""]
// $index = "entity_name"
// $limit = 20000

UNWIND $queries AS query CALL db.index.fulltext.queryNodes($index, query, {limit: $limit}) YIELD node AS n RETURN DISTINCT n.`id`, n.name
// $queries = ["+\"re\""]
// $index = "entity_name"
// $limit = 20000

UNWIND $queries AS query CALL db.index.fulltext.queryNodes($index, query, {limit: $limit}) YIELD node AS n RETURN DISTINCT n.`id`, n.name
// $queries = ["+\"re\""]
// $index = "entity_name"
// $limit = 20000
