package store

import (
	"context"

	"heapdrift/internal/store/internal/db"
)

// CodeOutage is the code of a waiting job that an outage has stopped. Its error says which.
const CodeOutage = "outage"

// ReleaseForOutage gives a job back that an outage has stopped: its attempt does not count, and another worker may take
// it after a pause that doubles with each outage of the job. It also takes the attempt back where the lease has run out
// meanwhile, because the database was away too, and another worker may have the job by now.
func (s *Store) ReleaseForOutage(ctx context.Context, l Lease, f Failure) error {
	_, err := db.Conns(s).Exec(ctx, `
		update jobs set attempt = greatest(attempt - 1, 0), outages = outages + 1, tokens = array_remove(tokens, $2::bigint),
			state = case when lease_token = $2 then `+again+` else state end,
			run_at = case when lease_token = $2 or state = 'queued'
				then now() + least(interval '5 minutes', interval '1 second' * power(2, least(outages, 9))) else run_at end,
			sent_at = case when lease_token = $2 then null else sent_at end,
			percent = case when lease_token = $2 then 0 else percent end,
			stage = case when lease_token = $2 then '' else stage end,
			error_code = case when lease_token = $2 or state = 'queued' then $3 else error_code end,
			error = case when lease_token = $2 or state = 'queued' then $4 else error end,
			lease_until = case when lease_token = $2 then null else lease_until end,
			lease_token = case when lease_token = $2 then null else lease_token end,
			failed_by = $5, worker = $6, worker_pid = $7, cause = $8
		where id = $1 and state in ('queued', 'running') and $2 = any(tokens)`,
		l.ID, l.token, CodeOutage, f.Message, f.Version, f.Worker, f.PID, f.storableCause())
	return db.Wrap("release job for an outage", err)
}
