package store

import (
	"context"
	"time"

	"heapdrift/internal/store/internal/db"
)

// A DueJob is a job to hand to the broker; its attempt number keeps an orphan of an earlier attempt from blocking it.
type DueJob struct {
	ID      int64
	Attempt int
	Heavy   bool // it reads so much that light jobs must not wait for it
}

// heavyBytes is how much evidence makes a job heavy: a read's own, else that of its run.
const heavyBytes = 256 << 20

// DispatchLimit is how many light and heavy jobs may lie with the broker. Jobs that lie with the broker keep their
// order, so the limit is small: what is due a turn cannot overtake them.
type DispatchLimit struct{ Light, Heavy int }

// unbounded takes all due jobs that one query returns.
var unbounded = DispatchLimit{500, 500}

// DispatchAllJobs is DispatchJobs without a limit.
func (s *Store) DispatchAllJobs(ctx context.Context, resend time.Duration) ([]DueJob, error) {
	return s.DispatchJobs(ctx, resend, unbounded)
}

// dueJobs are the jobs that are due: the project of each, whether it is heavy, whether a person waits for it, whether
// it has been handed to the broker, and whether that was so long ago that the broker may have lost it. $1 is the resend
// interval, $2 heavyBytes.
const dueJobs = `
		with due as (
			select j.id, j.run_id, j.kind, j.attempt, j.run_at, b.project_id, coalesce(own.bytes, whole.bytes, 0) > $2 heavy,
				coalesce(own.urgent and own.uploaded_at > now() - interval '1 hour', whole.urgent, false) urgent,
				j.sent_at is not null handed, coalesce(j.sent_at < now() - $1::interval, false) lost
			from jobs j join runs r on r.id = j.run_id join builds b on b.id = r.build_id
			left join evidence own on own.id = j.evidence_id
			left join lateral (
				select sum(bytes) bytes, bool_or(urgent and uploaded_at > now() - interval '1 hour') urgent
				from evidence e where e.run_id = j.run_id and j.evidence_id is null) whole on true
			where j.state = 'queued' and j.run_at <= now())`

// takeTurns numbers the jobs of dueJobs that are to go to the broker, light and heavy ones apart. At each level what
// waits stands in a ring: jobs that a person waits for and all others, in each the projects, in each project the runs.
// A turn is one job. Who has had a turn goes to the end of the ring, and so does who comes: the place in it is the time
// of the last turn, or the time of the oldest job that waits if that is later. The jobs of a run go by their age.
const takeTurns = `
		run_turns as (
			select run_id, max(sent_at) sent_at from jobs where run_id in (select run_id from due where not handed) group by run_id),
		by_run as (
			select d.*, row_number() over (partition by heavy, urgent, run_id order by run_at, id) run_turn,
				greatest(min(run_at) over (partition by heavy, urgent, run_id), t.sent_at) run_since
			from due d left join run_turns t using (run_id) where not handed),
		by_project as (
			select r.*, row_number() over (partition by heavy, urgent, project_id order by run_turn, run_since, run_id) project_turn,
				greatest(min(run_at) over (partition by heavy, urgent, project_id), t.sent_at) project_since
			from by_run r left join queue_turns t using (heavy, urgent, project_id)),
		by_share as (
			select p.*, row_number() over (partition by heavy, urgent order by project_turn, project_since, project_id) share_turn,
				greatest(min(run_at) over (partition by heavy, urgent),
					(select max(sent_at) from queue_turns t where t.heavy = p.heavy and t.urgent = p.urgent)) share_since
			from by_project p),
		places as (select s.*, row_number() over (partition by heavy order by share_turn, share_since, id) place from by_share s)`

// DispatchJobs marks jobs as handed to the broker and returns them in the order in which they are to run, which
// takeTurns gives. Jobs that were handed over and have not started count against most, however long ago that was: more
// would upset the turns. A job that has not started within the resend interval is handed over again: the broker may
// have lost it.
func (s *Store) DispatchJobs(ctx context.Context, resend time.Duration, most DispatchLimit) ([]DueJob, error) {
	due, err := db.All[DueJob](ctx, db.Conns(s), dueJobs+`,`+takeTurns+`,
		room as (
			select $3 - count(*) filter (where not heavy) light, $4 - count(*) filter (where heavy) heavy from due where handed),
		chosen as (
			select p.* from places p, room where p.place <= case when p.heavy then room.heavy else room.light end),
		locked as ( -- in one order, and without those that somebody is just taking
			select j.id from jobs j
			where j.state = 'queued' and (j.sent_at is null and j.id in (select id from chosen)
				or j.sent_at < now() - $1::interval and j.id in (select id from due where lost))
			order by j.id for update skip locked),
		sent as ( -- microseconds keep the order of turns that are given at once
			update jobs set sent_at = now() + c.place * interval '1 microsecond' from chosen c
			where jobs.id = c.id and c.id in (select id from locked)
			returning jobs.id, jobs.attempt, jobs.sent_at, c.heavy, c.urgent, c.project_id, c.place),
		resent as (
			update jobs set sent_at = now() from due d where jobs.id = d.id and d.lost and d.id in (select id from locked)
			returning jobs.id, jobs.attempt, d.heavy),
		turns as (
			insert into queue_turns (heavy, urgent, project_id, sent_at)
			select heavy, urgent, project_id, max(sent_at) from sent group by 1, 2, 3 order by 1, 2, 3
			`+onTurn+`)
		select id, attempt, heavy from (
			select id, attempt, heavy, place from sent union all select id, attempt, heavy, 0 from resent) all_sent
		order by place, heavy, id`, resend, int64(heavyBytes), most.Light, most.Heavy)
	return due, db.Wrap("due jobs", err)
}

// onTurn keeps the newest turn of a project.
const onTurn = `on conflict (heavy, urgent, project_id) do update set sent_at = greatest(queue_turns.sent_at, excluded.sent_at)`

// ResetDispatch makes every queued job due again; for a broker that starts empty.
func (s *Store) ResetDispatch(ctx context.Context) error {
	_, err := db.Conns(s).Exec(ctx, `update jobs set sent_at = null where state = 'queued'`)
	return db.Wrap("forget sent jobs", err)
}
