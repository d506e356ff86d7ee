-- +goose Up

-- In which lists of leaks at exit a finding is (analysis.ListedLeak): a list of another tool, or of another test, does not tell that it is gone. Null for none.
alter table findings add column listed jsonb;
-- The tools whose lists of leaks at exit the run has, without a loss.
alter table runs add column exit_tools text[] not null default '{}';
-- Nothing but such lists shows the leak: what a process holds while it runs tells nothing of it.
alter table signatures add column only_at_exit boolean not null default false;

-- Nothing of this is in stored results: runs with such lists are analysed again. The summary tells of lists only where
-- they are the primary evidence; beside other evidence, findings tell.
update runs set seen = '', input_rev = input_rev + 1 where analysed_at is not null
	and (summary->>'lists_at_exit' = 'true' or exists (select from findings f where f.run_id = runs.id and f.class = 'left-at-exit'));
insert into jobs (kind, run_id) select 'analyse', id from runs where analysed_at is not null
	and (summary->>'lists_at_exit' = 'true' or exists (select from findings f where f.run_id = runs.id and f.class = 'left-at-exit'))
	order by id desc on conflict do nothing;

-- +goose Down
alter table signatures drop column only_at_exit;
alter table runs drop column exit_tools;
alter table findings drop column listed;
