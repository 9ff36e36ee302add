-- property_set
coalesce(json_type(json_extract(p.properties, '$."year"')) IN ('UBIGINT', 'BIGINT', 'DOUBLE', 'VARCHAR', 'BOOLEAN') AND NOT false, false)
-- edge

-- chunk
coalesce(json_type(json_extract(c.metadata, '$."year"')) IN ('UBIGINT', 'BIGINT', 'DOUBLE', 'VARCHAR', 'BOOLEAN') AND NOT false, false)
