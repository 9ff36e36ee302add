-- property_set
coalesce(json_type(json_extract(p.properties, '$."allowed_principals"')) = 'ARRAY' AND len(list_filter(json_extract(json_extract(p.properties, '$."allowed_principals"'), '$[*]'), lambda x: coalesce(((json_type(x) = 'VARCHAR' AND list_contains($f0::VARCHAR[], json_extract_string(x, '$')))), false))) > 0, false)
-- edge

-- $f0 = ["user:ann", "group:all"]
-- chunk
coalesce(json_type(json_extract(c.metadata, '$."allowed_principals"')) = 'ARRAY' AND len(list_filter(json_extract(json_extract(c.metadata, '$."allowed_principals"'), '$[*]'), lambda x: coalesce(((json_type(x) = 'VARCHAR' AND list_contains($f0::VARCHAR[], json_extract_string(x, '$')))), false))) > 0, false)
-- $f0 = ["user:ann", "group:all"]
