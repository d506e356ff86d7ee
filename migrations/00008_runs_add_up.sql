-- +goose Up

-- evidence is what the judgement of a run on a signature rests on (score.Evidence): of what leaks or grows, and of what comes near to it. pooled is the
-- judgement on several runs of the scenario together (leaks.Pooled), from which class, score and certain follow; own is then what the run says of them
-- by itself (leaks.Judged). Both are null where the run stands for itself.
alter table findings
    add column evidence jsonb,
    add column own      jsonb,
    add column pooled   jsonb;
-- What may be judged together, of the runs of a scenario.
create index findings_pooled on findings (run_id, signature_id) where evidence is not null or pooled is not null;

-- The evidence lost nothing and is enough for growth to be judged, so that the run can be judged together with others.
alter table runs add column suffices boolean not null default false;

-- Nothing of this is in stored results: runs are analysed again.
update runs set input_rev = input_rev + 1 where analysed_at is not null;
insert into jobs (kind, run_id) select 'analyse', id from runs where analysed_at is not null order by id desc on conflict do nothing;

-- +goose Down
alter table runs drop column suffices;
drop index findings_pooled;
update findings set class = own->>'class', score = (own->>'score')::double precision, certain = (own->>'certain')::boolean where own is not null;
alter table findings drop column evidence, drop column own, drop column pooled;
