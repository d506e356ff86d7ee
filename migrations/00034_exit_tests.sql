-- +goose Up
-- The work that was done before the lists of leaks at exit of a run were printed (analysis.ExitWork); null where nobody
-- tells. Runs of an older version have none until they are analysed again.
alter table runs add column exit_work jsonb;
-- What the lists of a run say of each test (analysis.ExitTest).
create table run_tests (
    run_id     bigint not null references runs on delete cascade,
    test       text not null,
    leaks      int not null,
    certain    int not null,
    lost_count bigint not null,
    lost_bytes bigint not null,
    whole      boolean not null,
    primary key (run_id, test)
);
-- Runs whose lists belong to tests are analysed again: nothing of this is in stored results.
update runs set input_rev = input_rev + 1 where analysed_at is not null
	and exists (select from findings f where f.run_id = runs.id and f.listed ? 'tests');
insert into jobs (kind, run_id) select 'analyse', id from runs where analysed_at is not null
	and exists (select from findings f where f.run_id = runs.id and f.listed ? 'tests')
	order by id desc on conflict do nothing;

-- +goose Down
drop table run_tests;
alter table runs drop column exit_work;
