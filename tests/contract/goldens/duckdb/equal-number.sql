-- property_set
coalesce(((json_type(json_extract(p.properties, '$."year"')) IN ('UBIGINT', 'BIGINT') AND list_contains($f0::BIGINT[], TRY_CAST(json_extract(p.properties, '$."year"') AS BIGINT))) OR (json_type(json_extract(p.properties, '$."year"')) = 'DOUBLE' AND list_contains($f1::DOUBLE[], TRY_CAST(json_extract(p.properties, '$."year"') AS DOUBLE)))), false)
-- edge

-- $f0 = [2024]
-- $f1 = [2024.0]
-- chunk
coalesce(((json_type(json_extract(c.metadata, '$."year"')) IN ('UBIGINT', 'BIGINT') AND list_contains($f0::BIGINT[], TRY_CAST(json_extract(c.metadata, '$."year"') AS BIGINT))) OR (json_type(json_extract(c.metadata, '$."year"')) = 'DOUBLE' AND list_contains($f1::DOUBLE[], TRY_CAST(json_extract(c.metadata, '$."year"') AS DOUBLE)))), false)
-- $f0 = [2024]
-- $f1 = [2024.0]
