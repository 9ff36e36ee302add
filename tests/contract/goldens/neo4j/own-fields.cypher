// own
(coalesce(r.`source_doc_id` IN $f0, false) AND (coalesce(r.`key` IS :: BOOLEAN NOT NULL | STRING NOT NULL | INTEGER NOT NULL | FLOAT NOT NULL, false) AND NOT coalesce(r.`key` IN $f1, false)))
// $f0 = ["d1", "d2"]
// $f1 = ["status"]
// $plumbing = ["Entity", "EntityName"]
// $ignored = []
// foreign
(false AND false) AND NOT type(r) IN $ignored
// $plumbing = []
// $ignored = ["SIMILAR"]
// chunk
(coalesce(c.id IN $f0, false) AND (coalesce(c.`meta.key` IS :: BOOLEAN NOT NULL | STRING NOT NULL | INTEGER NOT NULL | FLOAT NOT NULL, false) AND NOT coalesce(c.`meta.key` IN $f1, false)))
// $f0 = ["d1", "d2"]
// $f1 = ["status"]
