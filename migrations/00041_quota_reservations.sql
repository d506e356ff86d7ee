-- +goose Up
-- Bytes in token_days that are reserved for requests under way. They end with the request, or with the server that
-- takes it.
create table token_reservations (
    id       bigint generated always as identity primary key,
    token_id bigint not null references tokens on delete cascade,
    day      date not null,
    bytes    bigint not null,
    node_id  text not null,               -- nodes.id of the server; '' where it is not known
    at       timestamptz not null default now()
);
create index token_reservations_token on token_reservations (token_id);

-- +goose Down
drop table token_reservations;
