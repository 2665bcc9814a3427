-- The connection is lost in the middle of a migration.
CREATE TABLE ${schema}.half_done (id integer);
SELECT pg_terminate_backend(pg_backend_pid());
