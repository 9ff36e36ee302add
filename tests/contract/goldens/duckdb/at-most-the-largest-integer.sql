-- property_set
coalesce(CASE WHEN json_type(json_extract(p.properties, '$."big"')) IN ('UBIGINT', 'BIGINT') THEN TRY_CAST(json_extract(p.properties, '$."big"') AS BIGINT) <= $f0::BIGINT WHEN json_type(json_extract(p.properties, '$."big"')) = 'DOUBLE' THEN TRY_CAST(json_extract(p.properties, '$."big"') AS DOUBLE) < $f1::DOUBLE ELSE false END, false)
-- edge

-- $f0 = 9223372036854775807
-- $f1 = 9.223372036854776e+18
-- chunk
coalesce(CASE WHEN json_type(json_extract(c.metadata, '$."big"')) IN ('UBIGINT', 'BIGINT') THEN TRY_CAST(json_extract(c.metadata, '$."big"') AS BIGINT) <= $f0::BIGINT WHEN json_type(json_extract(c.metadata, '$."big"')) = 'DOUBLE' THEN TRY_CAST(json_extract(c.metadata, '$."big"') AS DOUBLE) < $f1::DOUBLE ELSE false END, false)
-- $f0 = 9223372036854775807
-- $f1 = 9.223372036854776e+18
