package accounts

import "time"

// A Throttle says how many log-ins may fail within a time before further ones are refused. It has three limits, since
// an attacker chooses both the client and the account: Pair for one account from one client, Client for all accounts
// from one client, UserName for one account from all clients.
type Throttle struct {
	Within                 time.Duration
	Pair, Client, UserName int
}

// LogIns bounds log-ins. What one client gets wrong does not lock the account for others: only many clients together
// do.
var LogIns = Throttle{Within: 15 * time.Minute, Pair: 10, Client: 50, UserName: 100}

// Failures counts the log-ins that failed within Throttle.Within, as Throttle has the limits.
type Failures struct{ Pair, Client, UserName int }

// Refuses reports whether a further log-in is refused after these failures.
func (t *Throttle) Refuses(f Failures) bool {
	return f.Pair >= t.Pair || f.Client >= t.Client || f.UserName >= t.UserName
}
