-- property_set

-- edge
coalesce(list_contains($f0::VARCHAR[], e.source_doc_id), false) AND (e.key IS NOT NULL AND NOT list_contains($f1::VARCHAR[], e.key))
-- $f0 = ["d1", "d2"]
-- $f1 = ["status"]
-- chunk
(coalesce(list_contains($f0::VARCHAR[], c.id), false) AND coalesce(json_type(json_extract(c.metadata, '$."key"')) IN ('UBIGINT', 'BIGINT', 'DOUBLE', 'VARCHAR', 'BOOLEAN') AND NOT ((json_type(json_extract(c.metadata, '$."key"')) = 'VARCHAR' AND list_contains($f1::VARCHAR[], json_extract_string(json_extract(c.metadata, '$."key"'), '$')))), false))
-- $f0 = ["d1", "d2"]
-- $f1 = ["status"]
