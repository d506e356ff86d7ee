package accounts

import "time"

// A Throttle says how many log-ins may fail within a time before further ones are refused. It has three limits, since
// an attacker chooses both the client and the account: MostPerPair for one account from one client, MostPerClient for
// all accounts from one client, MostPerUserName for one account from all clients.
type Throttle struct {
	Within                                      time.Duration
	MostPerPair, MostPerClient, MostPerUserName int
}

// LogIns bounds log-ins. What one client gets wrong does not lock the account for others: only many clients together
// do.
var LogIns = Throttle{Within: 15 * time.Minute, MostPerPair: 10, MostPerClient: 50, MostPerUserName: 100}

// Failures counts the log-ins that failed within Throttle.Within: by one account from one client, by all accounts from
// the client, and by the account from all clients.
type Failures struct{ ByPair, ByClient, ByUserName int }

// Refuses reports whether a further log-in is refused after these failures.
func (t *Throttle) Refuses(f Failures) bool {
	return f.ByPair >= t.MostPerPair || f.ByClient >= t.MostPerClient || f.ByUserName >= t.MostPerUserName
}
