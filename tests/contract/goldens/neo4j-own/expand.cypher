OPTIONAL MATCH (m:`Hopscope`) WITH m LIMIT 1 CALL () { MATCH (n) RETURN count(n) AS nodes } CALL () { MATCH ()-[r]->() RETURN count(r) AS edges } CALL () { MATCH (n:`EntityName`) RETURN count(n) AS names } RETURN m.data_version, m.embedder, m.dimension, nodes, edges, names

MATCH (n:`Entity`)-[r]-(o:`Entity`) WHERE n.`id` IN $frontier AND CASE WHEN r.`allowed_principals` IS :: LIST<ANY> NOT NULL THEN any(x IN r.`allowed_principals` WHERE coalesce(x IN $f0, false)) ELSE false END AND NOT r.fact_id IN $exclude AND (type(r) IN $relations OR r.`key` IN $relations) WITH r WITH r, r.fact_id AS fact, round(2 * vector.similarity.cosine(r.`embedding`, $vector) - 1, 6) AS score WITH fact, coalesce(max(score), -2) AS best, collect([r, score]) AS listed ORDER BY best DESC, fact WITH collect(listed) AS facts WITH size(facts) AS found, facts[..$limit] AS kept CALL (kept) { UNWIND kept AS listed UNWIND listed AS pair WITH pair[0] AS r, pair[1] AS score RETURN collect([r.fact_id, score, [startNode(r).`id`, endNode(r).`id`, type(r), r.src_name, r.dst_name, r {.*, `embedding`: null}, r.`source_doc_id`]]) AS edges } CALL (kept) { UNWIND kept AS listed UNWIND listed AS pair UNWIND [startNode(pair[0]), endNode(pair[0])] AS n WITH DISTINCT n WHERE NOT n.`id` IN $known CALL (n) { MATCH (n)-[r]-(o:`Entity`) WHERE CASE WHEN r.`allowed_principals` IS :: LIST<ANY> NOT NULL THEN any(x IN r.`allowed_principals` WHERE coalesce(x IN $f0, false)) ELSE false END WITH CASE WHEN startNode(r) = n THEN r.src_name ELSE r.dst_name END AS one, CASE WHEN o = n AND r.src_name <> r.dst_name THEN r.dst_name END AS two, count(*) AS c RETURN collect([one, two, c]) AS listed } WITH *, [n.`id`, coalesce(toStringOrNull(n.`type`), head([l IN labels(n) WHERE NOT l IN $plumbing]), head(labels(n)), ''), listed] AS given  RETURN collect(given) AS ends } RETURN found, edges, ends
// $f0 = ["user:ann", "group:all", "\u0001\"user:ann\"", "\u0001\"group:all\""]
// $plumbing = ["Entity", "EntityName"]
// $ignored = []
// $exclude = ["f"]
// $relations = ["KNOWS"]
// $vector = [1.0, 0.0]
// $dimension = 2
// $frontier = ["a"]
// $limit = 10
// $known = []
