-- +goose Up

-- Where a build stands among those of its project, as leaks.RankBuilds has it: the place of an older build is less. Whoever adds a build,
-- or changes its name, sequence or taken_at, finds the places anew in the same transaction; '' is a build whose place is not known yet.
-- taken_at is when the first evidence was taken, by its own clock and without a zone; null where no evidence says so.
alter table builds
    add column taken_at timestamp,
    add column place    bytea not null default '';
update builds b set taken_at = t.taken_at
    from (select r.build_id, min(c.taken_at) as taken_at from runs r join evidence e on e.run_id = r.id join captures c on c.evidence_id = e.id group by r.build_id) t
    where t.build_id = b.id;
-- The order until now: without a sequence first, as they came, then by sequence. The server compares it with the order of today when it starts.
update builds set place = case when sequence is null then '\x00'::bytea else '\x01'::bytea || int8send(sequence # '-9223372036854775808'::bigint) end || int8send(id);

-- What became of a project but for its signatures, which have an audit of their own.
create table project_audit (
    id         bigint generated always as identity primary key,
    project_id bigint not null references projects on delete cascade,
    actor      text not null,          -- '' where the server did it
    action     text not null,
    before     jsonb not null,
    after      jsonb not null,
    at         timestamptz not null default now()
);
create index project_audit_of on project_audit (project_id, id);

-- What follows from the order is found again in the transaction that changes it.
drop table reordered;

-- +goose Down
create table reordered (
    project_id bigint not null references projects on delete cascade
);
create index reordered_by_project on reordered (project_id);
insert into reordered (project_id) select id from projects;
drop table project_audit;
alter table builds drop column taken_at, drop column place;
