// own
(CASE WHEN r.`allowed_principals` IS :: LIST<ANY> NOT NULL THEN any(x IN r.`allowed_principals` WHERE coalesce(x IN $f0, false)) ELSE false END AND (coalesce(r.dst_name IN $f1, false) OR coalesce(r.`lang` IN $f2, false)))
// $f0 = ["user:ann", "group:all", "\u0001\"user:ann\"", "\u0001\"group:all\""]
// $f1 = ["O'Hara"]
// $f2 = ["en"]
// $plumbing = ["Entity", "EntityName"]
// $ignored = []
// foreign
(CASE WHEN r.`allowed_principals` IS :: LIST<ANY> NOT NULL THEN any(x IN r.`allowed_principals` WHERE coalesce((CASE WHEN x IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(x) ELSE x END) IN $f0, false)) ELSE false END AND (coalesce((CASE WHEN coalesce(toStringOrNull(endNode(r).`name`), toStringOrNull(endNode(r).`title`), elementId(endNode(r))) IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(coalesce(toStringOrNull(endNode(r).`name`), toStringOrNull(endNode(r).`title`), elementId(endNode(r)))) ELSE coalesce(toStringOrNull(endNode(r).`name`), toStringOrNull(endNode(r).`title`), elementId(endNode(r))) END) IN $f1, false) OR coalesce((CASE WHEN r.`lang` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`lang`) ELSE r.`lang` END) IN $f2, false))) AND NOT type(r) IN $ignored
// $f0 = ["user:ann", "group:all", "\u0001\"user:ann\"", "\u0001\"group:all\""]
// $f1 = ["O'Hara"]
// $f2 = ["en"]
// $plumbing = []
// $ignored = ["SIMILAR"]
// chunk
(CASE WHEN c.`allowed_principals` IS :: LIST<ANY> NOT NULL THEN any(x IN c.`allowed_principals` WHERE coalesce(x IN $f0, false)) ELSE false END AND (coalesce(c.`meta.dst_name` IN $f1, false) OR coalesce(c.`lang` IN $f2, false)))
// $f0 = ["user:ann", "group:all", "\u0001\"user:ann\"", "\u0001\"group:all\""]
// $f1 = ["O'Hara"]
// $f2 = ["en"]
