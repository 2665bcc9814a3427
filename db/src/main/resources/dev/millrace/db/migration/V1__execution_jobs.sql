-- Jobs and their place in the queue, as one row each: the two can't disagree, and claiming is a query.
--
-- The attempt state is true in its columns; everything else is true in "record", and the remaining columns are
-- projections of it, for WHERE and ORDER BY only. Fill factor 70 leaves room on each page, so that a heartbeat
-- (which touches no indexed column) stays a heap-only update.

CREATE TABLE ${schema}.execution_jobs (
  operation_id            text COLLATE "C"  NOT NULL,
  version                 bigint            NOT NULL,
  status                  text              NOT NULL,
  attempt_count           integer           NOT NULL DEFAULT 0,
  forgiven_attempts       integer           NOT NULL DEFAULT 0,
  claim_token             uuid,
  claimed_by              text,
  claimed_at              timestamptz,
  last_heartbeat_at       timestamptz,
  next_retry_at           timestamptz,
  completed_at            timestamptz,
  percent_complete        double precision,
  current_phase           text,
  updated_at              timestamptz       NOT NULL,
  queue_priority          smallint,
  queue_visible_at        timestamptz,
  expires_at              timestamptz       NOT NULL,
  record                  json              NOT NULL,
  kind                    text              NOT NULL,
  runtime_profile         text              NOT NULL,
  queue                   text              NOT NULL,
  backend                 text              NOT NULL,
  priority                smallint          NOT NULL,
  created_at              timestamptz       NOT NULL,
  tenant_id               text,
  cancellation_requested  boolean           NOT NULL DEFAULT false,
  heartbeat_timeout       interval          NOT NULL,
  max_duration            interval          NOT NULL,
  lookup_keys             text[]            NOT NULL DEFAULT '{}',

  CONSTRAINT execution_jobs_pkey PRIMARY KEY (operation_id),
  CONSTRAINT execution_jobs_operation_id_length
    CHECK (char_length(operation_id) BETWEEN 1 AND 512 AND octet_length(operation_id) <= 2048),
  CONSTRAINT execution_jobs_version_positive CHECK (version > 0),
  CONSTRAINT execution_jobs_status_known
    CHECK (status IN ('Queued', 'Provisioning', 'Running', 'Succeeded', 'Failed', 'Cancelled')),
  CONSTRAINT execution_jobs_attempt_count_range CHECK (attempt_count >= 0),
  CONSTRAINT execution_jobs_forgiven_attempts_range CHECK (forgiven_attempts BETWEEN 0 AND attempt_count),
  CONSTRAINT execution_jobs_percent_complete_range CHECK (percent_complete BETWEEN 0 AND 100),
  CONSTRAINT execution_jobs_priority_range CHECK (priority BETWEEN 0 AND 3),
  CONSTRAINT execution_jobs_queue_priority_range CHECK (queue_priority BETWEEN 0 AND 3),
  CONSTRAINT execution_jobs_kind_length
    CHECK (char_length(kind) BETWEEN 1 AND 64 AND octet_length(kind) <= 128),
  CONSTRAINT execution_jobs_runtime_profile_length
    CHECK (char_length(runtime_profile) BETWEEN 1 AND 64 AND octet_length(runtime_profile) <= 128),
  CONSTRAINT execution_jobs_queue_length
    CHECK (char_length(queue) BETWEEN 1 AND 64 AND octet_length(queue) <= 128),
  CONSTRAINT execution_jobs_backend_length
    CHECK (char_length(backend) BETWEEN 1 AND 64 AND octet_length(backend) <= 128),
  CONSTRAINT execution_jobs_queue_place_whole CHECK ((queue_priority IS NULL) = (queue_visible_at IS NULL)),
  CONSTRAINT execution_jobs_queue_place_local CHECK (queue_priority IS NULL OR backend = 'local'),
  CONSTRAINT execution_jobs_queue_place_live
    CHECK (queue_priority IS NULL OR status IN ('Queued', 'Provisioning', 'Running')),
  CONSTRAINT execution_jobs_queued_unclaimed CHECK (status <> 'Queued' OR claim_token IS NULL)
)
WITH (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 200,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_analyze_threshold = 200,
  toast.autovacuum_vacuum_scale_factor = 0.02,
  toast.autovacuum_vacuum_threshold = 200
);

-- Lists, newest first.
CREATE INDEX idx_execution_jobs_created
  ON ${schema}.execution_jobs (created_at DESC, operation_id DESC);
CREATE INDEX idx_execution_jobs_status_created
  ON ${schema}.execution_jobs (status, created_at DESC, operation_id DESC);
CREATE INDEX idx_execution_jobs_kind_created
  ON ${schema}.execution_jobs (kind, created_at DESC, operation_id DESC);
CREATE INDEX idx_execution_jobs_tenant_created
  ON ${schema}.execution_jobs (tenant_id, created_at DESC, operation_id DESC);
CREATE INDEX idx_execution_jobs_lookup_keys
  ON ${schema}.execution_jobs USING gin (lookup_keys);

-- Claims: the queue in its order, and the same order within one kind for workers that lack the kinds at its head. Both
-- indexes hold the same rows, but each is for its own statement, and must not be taken for the other's: the second one for
-- the queue in its order would sort the whole backlog, the first one for a kind would walk through it. So the second one's
-- condition says in other words what the first one's does. No kind is empty: only the statement that wants this index says
-- so. And between a status and itself lies only that status: whoever says it like that says too little for the first index.
CREATE INDEX idx_execution_jobs_claimable
  ON ${schema}.execution_jobs (runtime_profile, queue, queue_priority, queue_visible_at, operation_id)
  WHERE status = 'Queued' AND queue_priority IS NOT NULL;
CREATE INDEX idx_execution_jobs_claimable_kind
  ON ${schema}.execution_jobs (runtime_profile, queue, kind, queue_priority, queue_visible_at, operation_id)
  WHERE status BETWEEN 'Queued' AND 'Queued' AND queue_priority IS NOT NULL AND kind <> '';

-- Recovery: what the sweeps look at. A backlog of jobs that were never claimed is in neither.
CREATE INDEX idx_execution_jobs_undispatched
  ON ${schema}.execution_jobs (backend)
  WHERE status = 'Queued' AND queue_priority IS NULL;
CREATE INDEX idx_execution_jobs_reconcilable
  ON ${schema}.execution_jobs (status)
  WHERE status IN ('Queued', 'Provisioning', 'Running')
    AND NOT (status = 'Queued' AND backend = 'local' AND queue_priority IS NOT NULL
             AND attempt_count = 0 AND NOT cancellation_requested);

-- Retention.
CREATE INDEX idx_execution_jobs_expired
  ON ${schema}.execution_jobs (expires_at)
  WHERE status IN ('Succeeded', 'Failed', 'Cancelled');

COMMENT ON TABLE ${schema}.execution_jobs IS
  'One row for each job: its attempt state, its place in the queue, and its record.';
COMMENT ON COLUMN ${schema}.execution_jobs.operation_id IS
  'The job''s id: 1 to 512 characters, at most 2,048 bytes, compared bytewise.';
COMMENT ON COLUMN ${schema}.execution_jobs.version IS
  'Grows by one with each compare-and-set, claim and change of status. Heartbeats and progress leave it alone.';
COMMENT ON COLUMN ${schema}.execution_jobs.status IS
  'Queued, Provisioning (claimed), Running, or one of the final Succeeded, Failed, Cancelled.';
COMMENT ON COLUMN ${schema}.execution_jobs.attempt_count IS
  'How often the job was claimed. Never falls.';
COMMENT ON COLUMN ${schema}.execution_jobs.forgiven_attempts IS
  'Claims that do not count against the maximum of attempts: shutdown, snooze, lease contention, retry by hand.';
COMMENT ON COLUMN ${schema}.execution_jobs.claim_token IS
  'The fence of the current attempt, new with every claim. Kept when the job is final, null while it is queued.';
COMMENT ON COLUMN ${schema}.execution_jobs.claimed_by IS
  'The worker that holds, or last held, the current attempt.';
COMMENT ON COLUMN ${schema}.execution_jobs.claimed_at IS
  'When the current attempt began, in database time.';
COMMENT ON COLUMN ${schema}.execution_jobs.last_heartbeat_at IS
  'When the current attempt last gave a sign of life, in database time. In no index, so that beats are heap-only updates.';
COMMENT ON COLUMN ${schema}.execution_jobs.next_retry_at IS
  'When the next attempt is due after a failed one; null otherwise.';
COMMENT ON COLUMN ${schema}.execution_jobs.completed_at IS
  'When the job reached a final status, in database time.';
COMMENT ON COLUMN ${schema}.execution_jobs.percent_complete IS
  'Progress of the current attempt as it reported it, 0 to 100.';
COMMENT ON COLUMN ${schema}.execution_jobs.current_phase IS
  'What the current attempt says it is doing.';
COMMENT ON COLUMN ${schema}.execution_jobs.updated_at IS
  'When the row last changed, heartbeats aside, in database time.';
COMMENT ON COLUMN ${schema}.execution_jobs.queue_priority IS
  'Priority of the job''s place in the local queue, 0 first. Null: the job has no place there.';
COMMENT ON COLUMN ${schema}.execution_jobs.queue_visible_at IS
  'When the job''s place in the local queue becomes claimable. Null exactly when queue_priority is.';
COMMENT ON COLUMN ${schema}.execution_jobs.expires_at IS
  'When retention may delete the job. Matters only once the status is final.';
COMMENT ON COLUMN ${schema}.execution_jobs.record IS
  'The job without its attempt state, as JSON. Type json, not jsonb: values may hold the NUL escape, which jsonb refuses. SQL never looks into it.';
COMMENT ON COLUMN ${schema}.execution_jobs.kind IS
  'Which handler runs the job. Projection of record.';
COMMENT ON COLUMN ${schema}.execution_jobs.runtime_profile IS
  'Which workers may run the job. Projection of record.';
COMMENT ON COLUMN ${schema}.execution_jobs.queue IS
  'The queue that the job belongs to. Projection of record.';
COMMENT ON COLUMN ${schema}.execution_jobs.backend IS
  '''local'' for jobs that workers claim, or the name of a remote backend. Projection of record.';
COMMENT ON COLUMN ${schema}.execution_jobs.priority IS
  'Critical 0, High 1, Normal 2, Low 3. Projection of record.';
COMMENT ON COLUMN ${schema}.execution_jobs.created_at IS
  'When the job was created: database time, unless its creator gave the time.';
COMMENT ON COLUMN ${schema}.execution_jobs.tenant_id IS
  'Whose job it is, if tenants are told apart. Projection of record.';
COMMENT ON COLUMN ${schema}.execution_jobs.cancellation_requested IS
  'Whether someone asked for the job to be cancelled. Projection of record.';
COMMENT ON COLUMN ${schema}.execution_jobs.heartbeat_timeout IS
  'How old the last heartbeat of a live attempt may be before it counts as dead. Projection of record.';
COMMENT ON COLUMN ${schema}.execution_jobs.max_duration IS
  'How long one attempt may take. Projection of record.';
COMMENT ON COLUMN ${schema}.execution_jobs.lookup_keys IS
  'What lists can be filtered by: dimension:VALUE for each, trimmed and upper-cased. Projection of record.';
