-- +goose Up

-- How a leak stands in each scenario that it was bad in, as leaks.ScenarioCourse has it; of roots that ever leaked or grew. Builds are null for none.
create table signature_states (
    signature_id bigint not null references signatures on delete cascade,
    scenario_id  bigint not null references scenarios on delete cascade,
    open         boolean not null,  -- bad, and not clean since
    first_bad_id bigint not null,
    last_bad_id  bigint not null,
    clean_id     bigint,            -- the first build behind last_bad_id that is clean in the scenario
    absent       boolean not null,  -- that build shows nothing of it, and its callers ran
    tried_id     bigint,            -- the newest build behind last_bad_id that shows it and does not decide
    seen_id      bigint not null,   -- the newest build that shows it
    primary key (signature_id, scenario_id)
);

-- In which scenario the figures of a signature were measured.
alter table signatures add column figure_scenario_id bigint;

-- Projects of which nothing of this is known yet: whoever migrates follows their histories anew, and deletes the row.
create table unfollowed (
    project_id bigint primary key references projects on delete cascade
);
insert into unfollowed select id from projects p where exists (select from signatures s where s.project_id = p.id and s.bad and s.alias_of is null);

-- +goose Down
drop table unfollowed;
alter table signatures drop column figure_scenario_id;
drop table signature_states;
