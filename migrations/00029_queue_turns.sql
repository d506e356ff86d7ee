-- +goose Up
-- When a job of a project last went to the broker. Projects take turns by it. There is no foreign key: handing jobs over
-- locks jobs first, deleting a project locks the project first.
create table queue_turns (
    heavy      boolean not null,
    urgent     boolean not null,
    project_id bigint not null,
    sent_at    timestamptz not null,
    primary key (heavy, urgent, project_id)
);

-- +goose Down
drop table queue_turns;
