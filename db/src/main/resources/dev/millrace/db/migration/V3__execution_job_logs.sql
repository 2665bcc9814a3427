-- Job logs: a bounded stream of entries for each job, and the ids of the events that it has already taken,
-- so that an event that is delivered twice is written once.

CREATE TABLE ${schema}.execution_job_log_streams (
  operation_id          text COLLATE "C"  NOT NULL,
  appended_count        bigint            NOT NULL DEFAULT 0,
  dropped_count         bigint            NOT NULL DEFAULT 0,
  event_identity_count  integer           NOT NULL DEFAULT 0,
  expires_at            timestamptz       NOT NULL,

  CONSTRAINT execution_job_log_streams_pkey PRIMARY KEY (operation_id),
  CONSTRAINT execution_job_log_streams_operation_id_length
    CHECK (char_length(operation_id) BETWEEN 1 AND 512 AND octet_length(operation_id) <= 2048),
  CONSTRAINT execution_job_log_streams_counts
    CHECK (dropped_count >= 0 AND appended_count >= dropped_count AND event_identity_count >= 0),
  CONSTRAINT execution_job_log_streams_event_identity_limit CHECK (event_identity_count <= 8192)
)
WITH (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 200
);

CREATE INDEX idx_execution_job_log_streams_expires_at ON ${schema}.execution_job_log_streams (expires_at);

CREATE TABLE ${schema}.execution_job_log_entries (
  operation_id  text COLLATE "C"  NOT NULL,
  sequence      bigint            NOT NULL,
  entry         json              NOT NULL,

  CONSTRAINT execution_job_log_entries_pkey PRIMARY KEY (operation_id, sequence),
  CONSTRAINT execution_job_log_entries_stream_fkey FOREIGN KEY (operation_id)
    REFERENCES ${schema}.execution_job_log_streams (operation_id) ON DELETE CASCADE,
  CONSTRAINT execution_job_log_entries_sequence_range CHECK (sequence >= 0),
  CONSTRAINT execution_job_log_entries_entry_size CHECK (octet_length(entry::text) <= 4096)
)
WITH (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 200
);

CREATE TABLE ${schema}.execution_job_log_event_identities (
  operation_id  text COLLATE "C"  NOT NULL,
  event_id      text COLLATE "C"  NOT NULL,

  CONSTRAINT execution_job_log_event_identities_pkey PRIMARY KEY (operation_id, event_id),
  CONSTRAINT execution_job_log_event_identities_stream_fkey FOREIGN KEY (operation_id)
    REFERENCES ${schema}.execution_job_log_streams (operation_id) ON DELETE CASCADE,
  CONSTRAINT execution_job_log_event_identities_event_id_length
    CHECK (char_length(event_id) BETWEEN 1 AND 160)
)
WITH (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 200
);

COMMENT ON TABLE ${schema}.execution_job_log_streams IS
  'One row for each job that has a log: its counts and its retention.';
COMMENT ON COLUMN ${schema}.execution_job_log_streams.operation_id IS
  'The job.';
COMMENT ON COLUMN ${schema}.execution_job_log_streams.appended_count IS
  'How many entries were ever appended; the sequence number of the next one.';
COMMENT ON COLUMN ${schema}.execution_job_log_streams.dropped_count IS
  'How many of the oldest entries were dropped to keep the stream within its bound.';
COMMENT ON COLUMN ${schema}.execution_job_log_streams.event_identity_count IS
  'How many event ids the stream has taken, at most 8,192.';
COMMENT ON COLUMN ${schema}.execution_job_log_streams.expires_at IS
  'When retention may delete the log, once its job is no longer active.';
COMMENT ON TABLE ${schema}.execution_job_log_entries IS
  'The entries of a job''s log that are still kept.';
COMMENT ON COLUMN ${schema}.execution_job_log_entries.operation_id IS
  'The job.';
COMMENT ON COLUMN ${schema}.execution_job_log_entries.sequence IS
  'Position in the stream, from zero, without gaps.';
COMMENT ON COLUMN ${schema}.execution_job_log_entries.entry IS
  'The entry as JSON, at most 4,096 bytes.';
COMMENT ON TABLE ${schema}.execution_job_log_event_identities IS
  'The ids of the events that a log has taken, also of entries that were dropped since.';
COMMENT ON COLUMN ${schema}.execution_job_log_event_identities.operation_id IS
  'The job.';
COMMENT ON COLUMN ${schema}.execution_job_log_event_identities.event_id IS
  'The id that the writer gave the event: 1 to 160 characters.';
