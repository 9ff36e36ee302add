-- property_set
coalesce(((json_type(json_extract(p.properties, '$."big"')) IN ('UBIGINT', 'BIGINT') AND list_contains($f0::BIGINT[], TRY_CAST(json_extract(p.properties, '$."big"') AS BIGINT)))), false)
-- edge

-- $f0 = [9007199254740993]
-- chunk
coalesce(((json_type(json_extract(c.metadata, '$."big"')) IN ('UBIGINT', 'BIGINT') AND list_contains($f0::BIGINT[], TRY_CAST(json_extract(c.metadata, '$."big"') AS BIGINT)))), false)
-- $f0 = [9007199254740993]
