-- +goose Up

-- When gates fail, in the versions that a project had: leaks.Policies as JSON.
create table project_policies (
    project_id bigint not null references projects on delete cascade,
    version    int not null,
    policies   text not null,
    author     text not null,
    note       text not null,
    verified   boolean not null,          -- whether the author was logged in
    at         timestamptz not null default now(),
    primary key (project_id, version)
);

-- What gates said of runs: a row where the answer to a question differs from the one before.
create table decisions (
    id       bigint generated always as identity primary key,
    run_id   bigint not null references runs on delete cascade,
    fail_on  text not null,              -- that the call asked for; '' for nothing beside the policy
    baseline text not null,              -- that the call named; '' where the server chose
    decision jsonb not null,             -- leaks.Decision
    at       timestamptz not null default now()
);
create index decisions_of on decisions (run_id, id);

-- +goose Down
drop table decisions, project_policies;
