-- +goose Up

-- The blocks of a finding that came in each stretch of its run and stayed, as score.Stayed has them; null for none. With the lengths of the
-- stretches they bound how fast a leak may be, and tell a leak that begins from growth that was always there.
alter table findings add column stayed bigint[];
alter table runs
    add column stretches    double precision[],        -- in stretch_unit; null where the evidence shows one instant
    add column stretch_unit text not null default '',
    add column places       int not null default 0;    -- signatures that keep memory

-- How a leak stands on each line of builds that shows it, as leaks.Course has it; of roots that ever leaked or grew. Builds are null for none.
create table signature_lines (
    signature_id  bigint not null references signatures on delete cascade,
    branch        text not null,
    state         text not null,
    fork_id       bigint,            -- the last build that the line shares with its parent
    first_bad_id  bigint,
    last_clean_id bigint,
    clean_bound   jsonb,             -- leaks.CleanBound in last_clean_id; null where nobody knows
    after_id      bigint,            -- the interval in which it came in last
    since_id      bigint,
    found         boolean not null,
    told_id       bigint,            -- the first build since that failed for it
    last_bad_id   bigint,
    last_seen_id  bigint,
    fixed_in_id   bigint,
    regressed_id  bigint,
    primary key (signature_id, branch)
);

-- The runs whose gate failed for a signature, whatever name it had then.
create table failures (
    signature_id bigint not null references signatures on delete cascade,
    run_id       bigint not null references runs on delete cascade,
    primary key (signature_id, run_id)
);
create index failures_by_run on failures (run_id);
insert into failures
    select distinct s.id, d.run_id from decisions d join runs r on r.id = d.run_id join builds b on b.id = r.build_id
        cross join lateral jsonb_array_elements(d.decision->'reasons') e join signatures s on s.project_id = b.project_id and s.text = e->>'signature'
    where e->>'effect' = 'fails' and e->>'code' in ('leak', 'new', 'regressed');

-- Nothing of this is in stored results: runs are analysed again, and all histories followed anew.
update runs set input_rev = input_rev + 1 where analysed_at is not null;
insert into jobs (kind, run_id) select 'analyse', id from runs where analysed_at is not null order by id desc on conflict do nothing;
insert into unfollowed select id from projects p where exists (select from signatures s where s.project_id = p.id and s.bad and s.alias_of is null) on conflict do nothing;

-- +goose Down
drop table failures, signature_lines;
alter table runs drop column stretches, drop column stretch_unit, drop column places;
alter table findings drop column stayed;
