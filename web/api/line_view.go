package api

import "heapdrift/internal/leaks"

// lineView is how a leak stands on one line of builds. Builds are named; "" is none.
type lineView struct {
	Branch         string            `json:"branch"`
	Fork           string            `json:"fork"`
	State          leaks.State       `json:"state"`
	Sentence       string            `json:"sentence"`
	After          string            `json:"after"`
	Since          string            `json:"since"`
	LastClean      string            `json:"last_clean"`
	LastCleanBound *leaks.CleanBound `json:"last_clean_bound"` // null where nobody knows
	LastBad        string            `json:"last_bad"`
	FixedIn        string            `json:"fixed_in"`
	RegressedIn    string            `json:"regressed_in"`
	Told           *string           `json:"told"` // null where no build failed for it
	Odds           []leaks.RunOdds   `json:"odds"` // by run, oldest first
}

func viewOfLines(list []leaks.LineState) []lineView {
	views := make([]lineView, len(list))
	for i := range list {
		l := &list[i]
		views[i] = lineView{l.Branch, l.Fork, l.State, l.Text(), l.After, l.Since, l.LastClean, l.CleanBound, l.LastBad,
			l.FixedIn, l.RegressedIn, nil, filled(l.Odds)}
		if l.FailedIn != "" {
			views[i].Told = &l.FailedIn
		}
	}
	return views
}
