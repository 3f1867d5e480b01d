-- Which key made an endpoint, and which one set its current URL: a leaked key's endpoints can be found and disabled.
-- Null for endpoints from before this column.
ALTER TABLE endpoints ADD COLUMN key_id text, ADD COLUMN url_key_id text;
