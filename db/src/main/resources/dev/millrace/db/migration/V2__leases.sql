-- Leases: a named right that one owner holds until it expires by database time.

CREATE TABLE ${schema}.leases (
  lease_key   text COLLATE "C"  NOT NULL,
  owner_id    text              NOT NULL,
  expires_at  timestamptz       NOT NULL,

  CONSTRAINT leases_pkey PRIMARY KEY (lease_key),
  CONSTRAINT leases_lease_key_length
    CHECK (char_length(lease_key) BETWEEN 1 AND 512 AND octet_length(lease_key) <= 2048),
  CONSTRAINT leases_owner_id_length CHECK (char_length(owner_id) BETWEEN 1 AND 512)
)
WITH (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 200
);

CREATE INDEX idx_leases_expires_at ON ${schema}.leases (expires_at);

COMMENT ON TABLE ${schema}.leases IS
  'Named rights, each held by one owner until it expires.';
COMMENT ON COLUMN ${schema}.leases.lease_key IS
  'What is held: 1 to 512 characters, at most 2,048 bytes, compared bytewise.';
COMMENT ON COLUMN ${schema}.leases.owner_id IS
  'Who holds it.';
COMMENT ON COLUMN ${schema}.leases.expires_at IS
  'Until when, in database time. From then on anyone may take it.';
