ALTER TABLE ${schema}.leases ADD COLUMN later text;
