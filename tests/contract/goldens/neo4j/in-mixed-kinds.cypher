// own
coalesce((r.`year` IS :: INTEGER NOT NULL AND r.`year` IN $f0) OR (r.`year` IS :: FLOAT NOT NULL AND r.`year` IN $f1) OR r.`year` IN $f2 OR r.`year` IN $f3, false)
// $f0 = [2023]
// $f1 = [2023.0, 2024.5]
// $f2 = ["2024"]
// $f3 = [true]
// $plumbing = ["Entity", "EntityName"]
// $ignored = []
// foreign
coalesce(((CASE WHEN r.`year` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`year`) ELSE r.`year` END) IS :: INTEGER NOT NULL AND (CASE WHEN r.`year` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`year`) ELSE r.`year` END) IN $f0) OR ((CASE WHEN r.`year` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`year`) ELSE r.`year` END) IS :: FLOAT NOT NULL AND (CASE WHEN r.`year` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`year`) ELSE r.`year` END) IN $f1) OR (CASE WHEN r.`year` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`year`) ELSE r.`year` END) IN $f2 OR (CASE WHEN r.`year` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`year`) ELSE r.`year` END) IN $f3, false) AND NOT type(r) IN $ignored
// $f0 = [2023]
// $f1 = [2023.0, 2024.5]
// $f2 = ["2024"]
// $f3 = [true]
// $plumbing = []
// $ignored = ["SIMILAR"]
// chunk
coalesce((c.`year` IS :: INTEGER NOT NULL AND c.`year` IN $f0) OR (c.`year` IS :: FLOAT NOT NULL AND c.`year` IN $f1) OR c.`year` IN $f2 OR c.`year` IN $f3, false)
// $f0 = [2023]
// $f1 = [2023.0, 2024.5]
// $f2 = ["2024"]
// $f3 = [true]
