// own
(coalesce(r.`year` IS :: BOOLEAN NOT NULL | STRING NOT NULL | INTEGER NOT NULL | FLOAT NOT NULL, false) AND NOT false)
// $plumbing = ["Entity", "EntityName"]
// $ignored = []
// foreign
(coalesce((CASE WHEN r.`year` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`year`) ELSE r.`year` END) IS :: BOOLEAN NOT NULL | STRING NOT NULL | INTEGER NOT NULL | FLOAT NOT NULL, false) AND NOT false) AND NOT type(r) IN $ignored
// $plumbing = []
// $ignored = ["SIMILAR"]
// chunk
(coalesce(c.`year` IS :: BOOLEAN NOT NULL | STRING NOT NULL | INTEGER NOT NULL | FLOAT NOT NULL, false) AND NOT false)
