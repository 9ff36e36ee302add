MATCH (n:`Person`|`Odd ``label```)-[r]-(o:`Person`|`Odd ``label```) WHERE elementId(n) = $id AND CASE WHEN r.`allowed_principals` IS :: LIST<ANY> NOT NULL THEN any(x IN r.`allowed_principals` WHERE coalesce((CASE WHEN x IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(x) ELSE x END) IN $f0, false)) ELSE false END AND NOT type(r) IN $ignored RETURN type(r), null, startNode(r) = n, count(*)
// $f0 = ["user:ann", "group:all", "\u0001\"user:ann\"", "\u0001\"group:all\""]
// $plumbing = []
// $ignored = ["SIMILAR"]
// $id = "a"
