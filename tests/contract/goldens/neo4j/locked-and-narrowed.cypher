// own
(CASE WHEN r.`allowed_principals` IS :: LIST<ANY> NOT NULL THEN any(x IN r.`allowed_principals` WHERE coalesce(x IN $f0, false)) ELSE false END AND ((CASE WHEN r.`year` IS :: INTEGER NOT NULL THEN r.`year` >= $f1 WHEN r.`year` IS :: FLOAT NOT NULL THEN r.`year` >= $f2 ELSE false END AND coalesce(r.`lang` IN $f3, false)) OR false))
// $f0 = ["user:ann", "group:all", "\u0001\"user:ann\"", "\u0001\"group:all\""]
// $f1 = 2024
// $f2 = 2024.0
// $f3 = ["en", "de"]
// $plumbing = ["Entity", "EntityName"]
// $ignored = []
// foreign
(CASE WHEN r.`allowed_principals` IS :: LIST<ANY> NOT NULL THEN any(x IN r.`allowed_principals` WHERE coalesce((CASE WHEN x IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(x) ELSE x END) IN $f0, false)) ELSE false END AND ((CASE WHEN (CASE WHEN r.`year` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`year`) ELSE r.`year` END) IS :: INTEGER NOT NULL THEN (CASE WHEN r.`year` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`year`) ELSE r.`year` END) >= $f1 WHEN (CASE WHEN r.`year` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`year`) ELSE r.`year` END) IS :: FLOAT NOT NULL THEN (CASE WHEN r.`year` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`year`) ELSE r.`year` END) >= $f2 ELSE false END AND coalesce((CASE WHEN r.`lang` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`lang`) ELSE r.`lang` END) IN $f3, false)) OR false)) AND NOT type(r) IN $ignored
// $f0 = ["user:ann", "group:all", "\u0001\"user:ann\"", "\u0001\"group:all\""]
// $f1 = 2024
// $f2 = 2024.0
// $f3 = ["en", "de"]
// $plumbing = []
// $ignored = ["SIMILAR"]
// chunk
(CASE WHEN c.`allowed_principals` IS :: LIST<ANY> NOT NULL THEN any(x IN c.`allowed_principals` WHERE coalesce(x IN $f0, false)) ELSE false END AND ((CASE WHEN c.`year` IS :: INTEGER NOT NULL THEN c.`year` >= $f1 WHEN c.`year` IS :: FLOAT NOT NULL THEN c.`year` >= $f2 ELSE false END AND coalesce(c.`lang` IN $f3, false)) OR false))
// $f0 = ["user:ann", "group:all", "\u0001\"user:ann\"", "\u0001\"group:all\""]
// $f1 = 2024
// $f2 = 2024.0
// $f3 = ["en", "de"]
