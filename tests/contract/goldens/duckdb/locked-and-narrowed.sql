-- property_set
coalesce(json_type(json_extract(p.properties, '$."allowed_principals"')) = 'ARRAY' AND len(list_filter(json_extract(json_extract(p.properties, '$."allowed_principals"'), '$[*]'), lambda x: coalesce(((json_type(x) = 'VARCHAR' AND list_contains($f0::VARCHAR[], json_extract_string(x, '$')))), false))) > 0, false) AND ((coalesce(CASE WHEN json_type(json_extract(p.properties, '$."year"')) IN ('UBIGINT', 'BIGINT') THEN TRY_CAST(json_extract(p.properties, '$."year"') AS BIGINT) >= $f1::BIGINT WHEN json_type(json_extract(p.properties, '$."year"')) = 'DOUBLE' THEN TRY_CAST(json_extract(p.properties, '$."year"') AS DOUBLE) >= $f2::DOUBLE ELSE false END, false) AND coalesce(((json_type(json_extract(p.properties, '$."lang"')) = 'VARCHAR' AND list_contains($f3::VARCHAR[], json_extract_string(json_extract(p.properties, '$."lang"'), '$')))), false)) OR false)
-- edge

-- $f0 = ["user:ann", "group:all"]
-- $f1 = 2024
-- $f2 = 2024.0
-- $f3 = ["en", "de"]
-- chunk
(coalesce(json_type(json_extract(c.metadata, '$."allowed_principals"')) = 'ARRAY' AND len(list_filter(json_extract(json_extract(c.metadata, '$."allowed_principals"'), '$[*]'), lambda x: coalesce(((json_type(x) = 'VARCHAR' AND list_contains($f0::VARCHAR[], json_extract_string(x, '$')))), false))) > 0, false) AND ((coalesce(CASE WHEN json_type(json_extract(c.metadata, '$."year"')) IN ('UBIGINT', 'BIGINT') THEN TRY_CAST(json_extract(c.metadata, '$."year"') AS BIGINT) >= $f1::BIGINT WHEN json_type(json_extract(c.metadata, '$."year"')) = 'DOUBLE' THEN TRY_CAST(json_extract(c.metadata, '$."year"') AS DOUBLE) >= $f2::DOUBLE ELSE false END, false) AND coalesce(((json_type(json_extract(c.metadata, '$."lang"')) = 'VARCHAR' AND list_contains($f3::VARCHAR[], json_extract_string(json_extract(c.metadata, '$."lang"'), '$')))), false)) OR false))
-- $f0 = ["user:ann", "group:all"]
-- $f1 = 2024
-- $f2 = 2024.0
-- $f3 = ["en", "de"]
