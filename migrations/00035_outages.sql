-- +goose Up
-- How often a job was given back because of an outage: its pause grows, and its attempts do not.
alter table jobs add outages int not null default 0;
-- Who failed a job and the text of the error, for operators. The sentence for users is in error.
alter table jobs add worker text not null default '';
alter table jobs add worker_pid int not null default 0;
alter table jobs add cause text not null default '';
alter table nodes add pid int not null default 0;

-- +goose Down
alter table nodes drop pid;
alter table jobs drop cause;
alter table jobs drop worker_pid;
alter table jobs drop worker;
alter table jobs drop outages;
