// own
coalesce(r.`date` >= $f0, false)
// $f0 = "2024-01-01"
// $plumbing = ["Entity", "EntityName"]
// $ignored = []
// foreign
coalesce((CASE WHEN r.`date` IS :: DATE NOT NULL | LOCAL DATETIME NOT NULL | ZONED DATETIME NOT NULL | LOCAL TIME NOT NULL | ZONED TIME NOT NULL | DURATION NOT NULL | POINT NOT NULL THEN toString(r.`date`) ELSE r.`date` END) >= $f0, false) AND NOT type(r) IN $ignored
// $f0 = "2024-01-01"
// $plumbing = []
// $ignored = ["SIMILAR"]
// chunk
coalesce(c.`date` >= $f0, false)
// $f0 = "2024-01-01"
