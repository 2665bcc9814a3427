CREATE TABLE orders (
    number    bigint PRIMARY KEY,
    confirmed boolean NOT NULL DEFAULT false
);
