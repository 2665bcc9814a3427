CREATE TABLE ${schema}.half_done (id integer);
ALTER TABLE ${schema}.no_such_table ADD COLUMN later text;
