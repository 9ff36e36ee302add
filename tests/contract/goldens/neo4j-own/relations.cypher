MATCH (n:`Entity`)-[r]-(o:`Entity`) WHERE n.`id` = $id AND CASE WHEN r.`allowed_principals` IS :: LIST<ANY> NOT NULL THEN any(x IN r.`allowed_principals` WHERE coalesce(x IN $f0, false)) ELSE false END RETURN type(r), r.`key`, startNode(r) = n, count(*)
// $f0 = ["user:ann", "group:all", "\u0001\"user:ann\"", "\u0001\"group:all\""]
// $plumbing = ["Entity", "EntityName"]
// $ignored = []
// $id = "a"
