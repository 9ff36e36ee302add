// own
true
// $plumbing = ["Entity", "EntityName"]
// $ignored = []
// foreign
true AND NOT type(r) IN $ignored
// $plumbing = []
// $ignored = ["SIMILAR"]
// chunk
true
