-- +goose Up
-- The work that was done before the lists of leaks at exit of a run were printed (analysis.ExitWork); null where nobody
-- tells. Runs of an older version have none until they are analysed again.
alter table runs add column exit_work jsonb;

-- +goose Down
alter table runs drop column exit_work;
