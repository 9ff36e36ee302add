// own
coalesce((r.`year` IS :: INTEGER NOT NULL AND r.`year` IN $f0) OR (r.`year` IS :: FLOAT NOT NULL AND r.`year` IN $f1), false)
// $f0 = [2024]
// $f1 = [2024.0]
// $plumbing = ["Entity", "EntityName"]
// $ignored = []
// foreign
coalesce(((CASE WHEN r.`year` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`year`) ELSE r.`year` END) IS :: INTEGER NOT NULL AND (CASE WHEN r.`year` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`year`) ELSE r.`year` END) IN $f0) OR ((CASE WHEN r.`year` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`year`) ELSE r.`year` END) IS :: FLOAT NOT NULL AND (CASE WHEN r.`year` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`year`) ELSE r.`year` END) IN $f1), false) AND NOT type(r) IN $ignored
// $f0 = [2024]
// $f1 = [2024.0]
// $plumbing = []
// $ignored = ["SIMILAR"]
// chunk
coalesce((c.`year` IS :: INTEGER NOT NULL AND c.`year` IN $f0) OR (c.`year` IS :: FLOAT NOT NULL AND c.`year` IN $f1), false)
// $f0 = [2024]
// $f1 = [2024.0]
