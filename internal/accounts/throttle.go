package accounts

import "time"

// A Throttle says how many log-ins may fail within a time before further ones wait. There are three counts, since an
// attacker chooses where to come from and whom to try: so many for one account from one client, for one client, for one
// account.
type Throttle struct {
	Within                 time.Duration
	Pair, Client, UserName int
}

// LogIns bounds log-ins. What one client gets wrong does not lock the account for others: only many clients together
// do.
var LogIns = Throttle{Within: 15 * time.Minute, Pair: 10, Client: 50, UserName: 100}

// Failures counts the log-ins that failed lately.
type Failures struct{ Pair, Client, UserName int }

// Refuses reports whether so many failures are enough.
func (t *Throttle) Refuses(f Failures) bool {
	return f.Pair >= t.Pair || f.Client >= t.Client || f.UserName >= t.UserName
}
