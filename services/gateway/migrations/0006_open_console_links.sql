-- The open links of a client, which are limited, and all links that have expired.
CREATE INDEX console_links_of_a_client ON console_sessions (studio_id, client_id, link_expires_at)
    WHERE secret_hash IS NULL;
