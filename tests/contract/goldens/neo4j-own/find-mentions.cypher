MATCH (n:`EntityName`) WHERE n.mention IN $mentions RETURN n.`id`, n.name
// $mentions = ["acme co"]

UNWIND $asked AS asked MATCH (n:EntityName) WHERE n.mention STARTS WITH asked[0] AND ((size(n.mention) >= asked[1] AND size(n.mention) <= asked[2]) OR size(n.mention) = $longest) RETURN DISTINCT n.id, n.name
// $asked = [["a", 6, 8]]
// $longest = 200
