-- +goose Up

-- What runs do not show of leaks though code of theirs ran, as compare.Seen.Ran has it: of roots that are bad, of runs that prove something by what
-- they do not show. Runs of builds before the first bad one may be missing: they are not asked.
create table absences (
    run_id       bigint not null references runs on delete cascade,
    signature_id bigint not null,      -- of signatures, which go with their project only
    frame        text not null,
    blamed       boolean not null,     -- the frame to blame, else its caller
    stacks       int not null,         -- that hold the frame
    primary key (signature_id, run_id)
);
create index absences_by_run on absences (run_id);

-- What was seen has counts of stacks now, and is of runs alone that prove something by what they do not show: runs are analysed again.
update runs set seen = '', input_rev = input_rev + 1 where analysed_at is not null;
insert into jobs (kind, run_id) select 'analyse', id from runs where analysed_at is not null order by id desc on conflict do nothing;

-- +goose Down
update runs set seen = '';
drop table absences;
