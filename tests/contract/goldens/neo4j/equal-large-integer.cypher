// own
coalesce((r.`big` IS :: INTEGER NOT NULL AND r.`big` IN $f0), false)
// $f0 = [9007199254740993]
// $plumbing = ["Entity", "EntityName"]
// $ignored = []
// foreign
coalesce(((CASE WHEN r.`big` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`big`) ELSE r.`big` END) IS :: INTEGER NOT NULL AND (CASE WHEN r.`big` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`big`) ELSE r.`big` END) IN $f0), false) AND NOT type(r) IN $ignored
// $f0 = [9007199254740993]
// $plumbing = []
// $ignored = ["SIMILAR"]
// chunk
coalesce((c.`big` IS :: INTEGER NOT NULL AND c.`big` IN $f0), false)
// $f0 = [9007199254740993]
