-- +goose Up

-- The symbol files that pushes say belong to a build. Evidence without ids is named by those of its build before all others.
create table build_symbols (
    build_id bigint not null references builds on delete cascade,
    file_id  bigint not null references symbol_files on delete cascade,
    primary key (build_id, file_id)
);
create index build_symbols_by_file on build_symbols (file_id);

-- +goose Down
drop table build_symbols;
