-- property_set
coalesce(json_type(json_extract(p.properties, '$."allowed_principals"')) = 'ARRAY' AND len(list_filter(json_extract(json_extract(p.properties, '$."allowed_principals"'), '$[*]'), lambda x: coalesce(((json_type(x) = 'VARCHAR' AND list_contains($f0::VARCHAR[], json_extract_string(x, '$')))), false))) > 0, false)
-- edge
(coalesce(list_contains($f1::VARCHAR[], e.dst_name), false) OR coalesce(((json_type(json_extract(p.properties, '$."lang"')) = 'VARCHAR' AND list_contains($f2::VARCHAR[], json_extract_string(json_extract(p.properties, '$."lang"'), '$')))), false))
-- $f0 = ["user:ann", "group:all"]
-- $f1 = ["O'Hara"]
-- $f2 = ["en"]
-- chunk
(coalesce(json_type(json_extract(c.metadata, '$."allowed_principals"')) = 'ARRAY' AND len(list_filter(json_extract(json_extract(c.metadata, '$."allowed_principals"'), '$[*]'), lambda x: coalesce(((json_type(x) = 'VARCHAR' AND list_contains($f0::VARCHAR[], json_extract_string(x, '$')))), false))) > 0, false) AND (coalesce(((json_type(json_extract(c.metadata, '$."dst_name"')) = 'VARCHAR' AND list_contains($f1::VARCHAR[], json_extract_string(json_extract(c.metadata, '$."dst_name"'), '$')))), false) OR coalesce(((json_type(json_extract(c.metadata, '$."lang"')) = 'VARCHAR' AND list_contains($f2::VARCHAR[], json_extract_string(json_extract(c.metadata, '$."lang"'), '$')))), false)))
-- $f0 = ["user:ann", "group:all"]
-- $f1 = ["O'Hara"]
-- $f2 = ["en"]
