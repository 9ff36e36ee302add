-- property_set
coalesce(((json_type(json_extract(p.properties, '$."year"')) IN ('UBIGINT', 'BIGINT') AND list_contains($f0::BIGINT[], TRY_CAST(json_extract(p.properties, '$."year"') AS BIGINT))) OR (json_type(json_extract(p.properties, '$."year"')) = 'DOUBLE' AND list_contains($f1::DOUBLE[], TRY_CAST(json_extract(p.properties, '$."year"') AS DOUBLE))) OR (json_type(json_extract(p.properties, '$."year"')) = 'VARCHAR' AND list_contains($f2::VARCHAR[], json_extract_string(json_extract(p.properties, '$."year"'), '$'))) OR (json_type(json_extract(p.properties, '$."year"')) = 'BOOLEAN' AND list_contains($f3::BOOLEAN[], TRY_CAST(json_extract(p.properties, '$."year"') AS BOOLEAN)))), false)
-- edge

-- $f0 = [2023]
-- $f1 = [2023.0, 2024.5]
-- $f2 = ["2024"]
-- $f3 = [true]
-- chunk
coalesce(((json_type(json_extract(c.metadata, '$."year"')) IN ('UBIGINT', 'BIGINT') AND list_contains($f0::BIGINT[], TRY_CAST(json_extract(c.metadata, '$."year"') AS BIGINT))) OR (json_type(json_extract(c.metadata, '$."year"')) = 'DOUBLE' AND list_contains($f1::DOUBLE[], TRY_CAST(json_extract(c.metadata, '$."year"') AS DOUBLE))) OR (json_type(json_extract(c.metadata, '$."year"')) = 'VARCHAR' AND list_contains($f2::VARCHAR[], json_extract_string(json_extract(c.metadata, '$."year"'), '$'))) OR (json_type(json_extract(c.metadata, '$."year"')) = 'BOOLEAN' AND list_contains($f3::BOOLEAN[], TRY_CAST(json_extract(c.metadata, '$."year"') AS BOOLEAN)))), false)
-- $f0 = [2023]
-- $f1 = [2023.0, 2024.5]
-- $f2 = ["2024"]
-- $f3 = [true]
