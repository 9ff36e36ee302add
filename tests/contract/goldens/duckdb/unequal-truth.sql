-- property_set
coalesce(json_type(json_extract(p.properties, '$."flag"')) IN ('UBIGINT', 'BIGINT', 'DOUBLE', 'VARCHAR', 'BOOLEAN') AND NOT ((json_type(json_extract(p.properties, '$."flag"')) = 'BOOLEAN' AND list_contains($f0::BOOLEAN[], TRY_CAST(json_extract(p.properties, '$."flag"') AS BOOLEAN)))), false)
-- edge

-- $f0 = [true]
-- chunk
coalesce(json_type(json_extract(c.metadata, '$."flag"')) IN ('UBIGINT', 'BIGINT', 'DOUBLE', 'VARCHAR', 'BOOLEAN') AND NOT ((json_type(json_extract(c.metadata, '$."flag"')) = 'BOOLEAN' AND list_contains($f0::BOOLEAN[], TRY_CAST(json_extract(c.metadata, '$."flag"') AS BOOLEAN)))), false)
-- $f0 = [true]
