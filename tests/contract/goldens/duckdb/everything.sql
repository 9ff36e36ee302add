-- property_set

-- edge

-- chunk

