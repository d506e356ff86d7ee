-- +goose Up
-- The page of a leak shows the stacks that it comes by, the first of each run: without an index they are looked for among all sites of the run.
create index sites_of_signature on sites (signature_id, run_id, ordinal);

-- Why the team says that it is not a leak, where it gave a reason.
alter table signatures add column not_leak_why text not null default '';

-- +goose Down
alter table signatures drop column not_leak_why;
drop index sites_of_signature;
