-- +goose Up
-- Which installation the database is of. The blob store keeps the same ID, so that nobody sweeps it by another database.
create table installation (
    id text not null
);
insert into installation (id) values (gen_random_uuid()::text);

-- +goose Down
drop table installation;
