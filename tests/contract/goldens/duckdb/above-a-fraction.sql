-- property_set
coalesce(CASE WHEN json_type(json_extract(p.properties, '$."year"')) IN ('UBIGINT', 'BIGINT') THEN TRY_CAST(json_extract(p.properties, '$."year"') AS BIGINT) > $f0::BIGINT WHEN json_type(json_extract(p.properties, '$."year"')) = 'DOUBLE' THEN TRY_CAST(json_extract(p.properties, '$."year"') AS DOUBLE) > $f1::DOUBLE ELSE false END, false)
-- edge

-- $f0 = 2023
-- $f1 = 2023.5
-- chunk
coalesce(CASE WHEN json_type(json_extract(c.metadata, '$."year"')) IN ('UBIGINT', 'BIGINT') THEN TRY_CAST(json_extract(c.metadata, '$."year"') AS BIGINT) > $f0::BIGINT WHEN json_type(json_extract(c.metadata, '$."year"')) = 'DOUBLE' THEN TRY_CAST(json_extract(c.metadata, '$."year"') AS DOUBLE) > $f1::DOUBLE ELSE false END, false)
-- $f0 = 2023
-- $f1 = 2023.5
