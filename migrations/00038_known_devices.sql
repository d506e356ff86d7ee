-- +goose Up
-- The browsers that a user has logged in with. What strangers get wrong about a name does not lock out these.
create table known_devices (
    digest  bytea primary key,
    user_id bigint not null references users on delete cascade,
    used_at timestamptz not null default now()
);
create index known_devices_by_user on known_devices (user_id, used_at);

-- +goose Down
drop table known_devices;
