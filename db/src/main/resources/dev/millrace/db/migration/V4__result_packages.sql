-- Result packages: what a job leaves behind for its caller, kept for a while.

CREATE TABLE ${schema}.result_packages (
  job_id      text COLLATE "C"  NOT NULL,
  package     json              NOT NULL,
  expires_at  timestamptz       NOT NULL,

  CONSTRAINT result_packages_pkey PRIMARY KEY (job_id),
  CONSTRAINT result_packages_job_id_length
    CHECK (char_length(job_id) BETWEEN 1 AND 512 AND octet_length(job_id) <= 2048)
)
WITH (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 200,
  toast.autovacuum_vacuum_scale_factor = 0.02,
  toast.autovacuum_vacuum_threshold = 200
);

CREATE INDEX idx_result_packages_expires_at ON ${schema}.result_packages (expires_at);

COMMENT ON TABLE ${schema}.result_packages IS
  'The result that a job left for its caller.';
COMMENT ON COLUMN ${schema}.result_packages.job_id IS
  'The job.';
COMMENT ON COLUMN ${schema}.result_packages.package IS
  'The result as JSON.';
COMMENT ON COLUMN ${schema}.result_packages.expires_at IS
  'Until when the result can be read; from then on retention may delete it.';
