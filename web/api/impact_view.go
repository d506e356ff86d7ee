package api

import (
	"heapdrift/internal/leaks"
	"heapdrift/web/address"
)

// impactView is what a change of rules or policies would do; nothing is saved.
type impactView struct {
	Sentence string          `json:"sentence"`
	Silenced []silencingView `json:"silenced"` // leaks that fail a gate now, and then would not
	Heard    []silencingView `json:"heard"`    // leaks that fail no gate now, and then would
	Runs     int             `json:"runs"`     // recent runs that were decided twice
	Verdicts []turnView      `json:"verdicts"` // those of them that are decided otherwise
}

type silencingView struct {
	Signature string `json:"signature"`
	Title     string `json:"title"`
	From      string `json:"from"` // shown, or by what it is silenced
	To        string `json:"to"`
	Why       string `json:"why"`
	Count     int    `json:"count"` // stacks or runs that show it so
	Of        int    `json:"of"`
}

type turnView struct {
	Run      int64      `json:"run"`
	Build    string     `json:"build"`
	Scenario string     `json:"scenario"`
	Name     string     `json:"name"`
	From     leaks.Gate `json:"from"`
	To       leaks.Gate `json:"to"`
	FromWhy  string     `json:"from_why"`
	ToWhy    string     `json:"to_why"`
	URL      string     `json:"url"`
}

func viewOfImpact(m *leaks.Impact) impactView {
	v := impactView{Sentence: m.Text(), Silenced: viewOfSilencings(m.Silenced), Heard: viewOfSilencings(m.Unsilenced),
		Runs: m.Runs, Verdicts: []turnView{}}
	for _, t := range m.ChangedRuns {
		v.Verdicts = append(v.Verdicts,
			turnView{t.RunID, t.Build, t.Scenario, t.Name, t.From, t.To, t.FromWhy, t.ToWhy, address.Run(t.RunID)})
	}
	return v
}

func viewOfSilencings(list []leaks.KnownChange) []silencingView {
	views := make([]silencingView, len(list))
	for i, s := range list {
		views[i] = silencingView{s.Signature, s.Title, s.From.Standing(), s.To.Standing(), s.Why, s.Changed, s.ChangedOf}
	}
	return views
}
