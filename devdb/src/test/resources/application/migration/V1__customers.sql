CREATE TABLE public.customers (id integer);
