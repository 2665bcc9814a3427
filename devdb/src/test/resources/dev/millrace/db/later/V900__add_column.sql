-- A later release adds a column to a table that is in use.
ALTER TABLE ${schema}.execution_jobs ADD COLUMN later text;
