-- +goose Up

-- Results are stored by the ten thousand rows. A foreign key looks its parent up for each of them, which took half of the time: whoever stores
-- sites, names or findings holds the lock of their run, and whoever stores signatures reads the project in the same transaction. What
-- remains to be done is to delete them with their parent.
alter table sites drop constraint sites_run_id_fkey;
alter table site_names drop constraint site_names_run_id_fkey;
alter table findings drop constraint findings_run_id_fkey1; -- the table before it had the name
alter table signatures drop constraint signatures_project_id_fkey;

-- +goose StatementBegin
create function delete_rows_of_runs() returns trigger language plpgsql as $$
begin
    delete from sites where run_id in (select id from gone);
    delete from site_names where run_id in (select id from gone);
    delete from findings where run_id in (select id from gone);
    return null;
end $$;
-- +goose StatementEnd
create trigger delete_rows after delete on runs referencing old table as gone for each statement execute function delete_rows_of_runs();

-- +goose StatementBegin
create function delete_rows_of_projects() returns trigger language plpgsql as $$
begin
    delete from signatures where project_id in (select id from gone);
    return null;
end $$;
-- +goose StatementEnd
create trigger delete_rows after delete on projects referencing old table as gone for each statement execute function delete_rows_of_projects();

-- What a signature was described with last, as a digest: nearly all of a result's are as they were.
alter table signatures add column told uuid;

-- +goose Down
alter table signatures drop column told;
drop trigger delete_rows on projects;
drop function delete_rows_of_projects;
drop trigger delete_rows on runs;
drop function delete_rows_of_runs;
alter table signatures add constraint signatures_project_id_fkey foreign key (project_id) references projects on delete cascade;
alter table findings add constraint findings_run_id_fkey1 foreign key (run_id) references runs on delete cascade;
alter table site_names add constraint site_names_run_id_fkey foreign key (run_id) references runs on delete cascade;
alter table sites add constraint sites_run_id_fkey foreign key (run_id) references runs on delete cascade;
