-- +goose Up
-- The page of a leak shows the stacks that it comes by, the first of each run: without an index they are looked for among all sites of the run.
create index sites_of_signature on sites (signature_id, run_id, ordinal);

-- +goose Down
drop index sites_of_signature;
