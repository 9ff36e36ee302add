-- property_set
coalesce((json_type(json_extract(p.properties, '$."date"')) = 'VARCHAR' AND json_extract_string(json_extract(p.properties, '$."date"'), '$') >= $f0::VARCHAR), false)
-- edge

-- $f0 = "2024-01-01"
-- chunk
coalesce((json_type(json_extract(c.metadata, '$."date"')) = 'VARCHAR' AND json_extract_string(json_extract(c.metadata, '$."date"'), '$') >= $f0::VARCHAR), false)
-- $f0 = "2024-01-01"
