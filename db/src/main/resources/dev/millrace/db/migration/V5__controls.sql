-- Controls: the few switches that hold for all nodes, and what the schema says about itself. A row that is not
-- there is a switch that is off.

CREATE TABLE ${schema}.controls (
  name    text COLLATE "C"  NOT NULL,
  value   text,
  reason  text,
  set_by  text              NOT NULL,
  set_at  timestamptz       NOT NULL,

  CONSTRAINT controls_pkey PRIMARY KEY (name),
  CONSTRAINT controls_name_length CHECK (char_length(name) BETWEEN 1 AND 160)
);

COMMENT ON TABLE ${schema}.controls IS
  'Switches that hold for all nodes (hold, paused queues and kinds), and facts about the schema.';
COMMENT ON COLUMN ${schema}.controls.name IS
  'Which switch or fact.';
COMMENT ON COLUMN ${schema}.controls.value IS
  'Its value, where being there is not enough.';
COMMENT ON COLUMN ${schema}.controls.reason IS
  'Why it was set.';
COMMENT ON COLUMN ${schema}.controls.set_by IS
  'Who set it.';
COMMENT ON COLUMN ${schema}.controls.set_at IS
  'When it was set, in database time.';

-- What a library looks at before it writes. Each later migration sets schema.version to its own number, and one after
-- which an older release would do harm sets schema.oldest-writer as well.
INSERT INTO ${schema}.controls (name, value, reason, set_by, set_at)
VALUES ('schema.version', '5', 'The version of this schema.', 'migration', now()),
       ('schema.oldest-writer', '0.1.0', 'The oldest library version that may still write to this schema.',
        'migration', now());
