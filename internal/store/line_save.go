package store

import (
	"encoding/json"

	"github.com/jackc/pgx/v5"
)

// saveLines stores how signatures stand on each line that was bad.
func saveLines(batch *pgx.Batch, subjects []subject) error {
	for i := range subjects {
		batch.Queue(`delete from signature_lines where signature_id = $1`, subjects[i].id)
		for _, c := range subjects[i].lines {
			var bound []byte
			if c.CleanBound != nil {
				var err error
				if bound, err = json.Marshal(c.CleanBound); err != nil {
					return err
				}
			}
			var fork *int64
			if c.ForkID != 0 {
				fork = &c.ForkID
			}
			batch.Queue(`insert into signature_lines (signature_id, branch, state, fork_id, first_bad_id, last_clean_id, clean_bound, after_id, since_id, found, told_id, last_bad_id, last_seen_id, fixed_in_id, regressed_id)
				values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
				subjects[i].id, c.Branch, string(c.State), fork, c.IDAt(c.FirstBad), c.IDAt(c.LastClean), bound, c.IDAt(c.After),
				c.IDAt(c.Since), c.Found, c.IDAt(c.FailedIn), c.IDAt(c.LastBad), c.IDAt(c.LastSeen),
				c.IDAt(c.FixedIn), c.IDAt(c.RegressedIn))
		}
	}
	return nil
}
