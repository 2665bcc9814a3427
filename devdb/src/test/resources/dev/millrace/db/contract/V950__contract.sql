-- A later release takes away what this one still writes, and says so.
UPDATE ${schema}.controls SET value = '950' WHERE name = 'schema.version';
UPDATE ${schema}.controls SET value = '99.0.0' WHERE name = 'schema.oldest-writer';
