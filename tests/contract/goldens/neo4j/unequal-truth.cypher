// own
(coalesce(r.`flag` IS :: BOOLEAN NOT NULL | STRING NOT NULL | INTEGER NOT NULL | FLOAT NOT NULL, false) AND NOT coalesce(r.`flag` IN $f0, false))
// $f0 = [true]
// $plumbing = ["Entity", "EntityName"]
// $ignored = []
// foreign
(coalesce((CASE WHEN r.`flag` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`flag`) ELSE r.`flag` END) IS :: BOOLEAN NOT NULL | STRING NOT NULL | INTEGER NOT NULL | FLOAT NOT NULL, false) AND NOT coalesce((CASE WHEN r.`flag` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`flag`) ELSE r.`flag` END) IN $f0, false)) AND NOT type(r) IN $ignored
// $f0 = [true]
// $plumbing = []
// $ignored = ["SIMILAR"]
// chunk
(coalesce(c.`flag` IS :: BOOLEAN NOT NULL | STRING NOT NULL | INTEGER NOT NULL | FLOAT NOT NULL, false) AND NOT coalesce(c.`flag` IN $f0, false))
// $f0 = [true]
