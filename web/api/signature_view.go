package api

import (
	"time"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/address"
)

// signatureView is a leak of a project as the API shows it.
type signatureView struct {
	Signature   string          `json:"signature"`
	Kind        string          `json:"kind"`
	Title       string          `json:"title"`
	URL         string          `json:"url"` // its page, relative to the server
	Blame       *analysis.Blame `json:"blame"`
	Frames      []string        `json:"frames"` // what it is made of, the one to blame first
	Fine        string          `json:"fine"`
	Leaf        string          `json:"leaf"`
	Group       string          `json:"group"`
	Provisional bool            `json:"provisional"` // symbols will give it another name
	CreatedAt   time.Time       `json:"created_at"`
	triageView
	Class          string      `json:"class"` // the gravest that any run gave it
	FirstBadBuild  string      `json:"first_bad_build"`
	LastCleanBuild string      `json:"last_clean_build"`
	LastBadBuild   string      `json:"last_bad_build"`
	LastSeenBuild  string      `json:"last_seen_build"`
	FixedBuild     string      `json:"fixed_build"`
	RegressedBuild string      `json:"regressed_build"`
	Latest         figuresView `json:"latest"` // of the newest build that has it
	LatestScenario string      `json:"latest_scenario"`
	Standing       string      `json:"standing"` // how it stands in each scenario, in a sentence
	States         []stateView `json:"states"`   // State is the gravest of them
}

// triageView is what the team says of a leak.
type triageView struct {
	State      string     `json:"state"`
	Version    int64      `json:"version"`
	Known      *knownView `json:"known"`
	FixedBy    string     `json:"fixed_by"`
	Assignee   string     `json:"assignee"`
	Owner      string     `json:"owner"`
	Ticket     string     `json:"ticket"`
	NotLeak    bool       `json:"not_leak"`
	NotLeakWhy string     `json:"not_leak_why"`
	Comments   int        `json:"comments"`
}

type knownView struct {
	Reason     string  `json:"reason"`
	Until      *string `json:"until"` // as it was given: a day, which still counts, or a time
	UntilBuild string  `json:"until_build"`
	Expired    bool    `json:"expired"`
	Rule       bool    `json:"rule"`
}

type figuresView struct {
	Class       string           `json:"class"`
	Score       *float64         `json:"score"`
	Certain     bool             `json:"certain"`
	Outstanding analysis.Amount  `json:"outstanding"`
	Growth      *analysis.Amount `json:"growth"`
	Rate        *score.Rate      `json:"rate"`
}

func viewOfSignature(project string, s *store.Signature) signatureView {
	return signatureView{
		Signature: s.Text, Kind: s.Kind, Title: s.Title, URL: address.Signature(project, s.Text), Blame: s.Blame,
		Frames: filled(s.Frames), Fine: s.Fine, Leaf: s.Leaf,
		Group: s.Group, Provisional: s.Provisional, CreatedAt: s.CreatedAt, triageView: viewOfTriage(&s.Triage),
		Class:         s.Worst,
		FirstBadBuild: s.FirstBad, LastCleanBuild: s.LastClean, LastBadBuild: s.LastBad,
		LastSeenBuild: s.LastSeen, FixedBuild: s.FixedIn,
		RegressedBuild: s.RegressedIn, Latest: viewOfFigure(&s.Latest), LatestScenario: s.Measured,
		Standing: leaks.DescribeScenarios(s.States, s.FixedIn), States: viewOfStates(s),
	}
}

// stateView is how a leak stands in one scenario, with the figures of the build in which it was bad last beside those
// of the newest.
type stateView struct {
	Scenario string       `json:"scenario"`
	State    string       `json:"state"`
	Sentence string       `json:"sentence"`
	FirstBad string       `json:"first_bad_build"`
	LastBad  string       `json:"last_bad_build"`
	Clean    string       `json:"clean_build"`
	Bad      *figuresView `json:"bad"`
	NowBuild string       `json:"now_build"`
	Now      *figuresView `json:"now"`
}

func viewOfStates(s *store.Signature) []stateView {
	list := make([]stateView, len(s.States))
	for i := range s.States {
		st := &s.States[i]
		list[i] = stateView{st.Scenario, string(st.State), st.Text(s.FixedIn), st.FirstBad, st.LastBad, st.FirstCleanAfter,
			figuresOf(st.Bad), st.NowBuild, figuresOf(st.Now)}
	}
	return list
}

// figuresOf are figures, null where there are none.
func figuresOf(f *leaks.Figure) *figuresView {
	if f == nil {
		return nil
	}
	return new(viewOfFigure(f))
}

func viewOfTriage(t *leaks.Triage) triageView {
	v := triageView{
		State: string(t.State), Version: t.Version, FixedBy: t.FixedBy, Assignee: t.Assignee,
		Owner: t.Owner, Ticket: t.Ticket,
		NotLeak: t.NotLeak, NotLeakWhy: t.NotLeakWhy, Comments: t.Comments,
	}
	if k := t.Known; k != nil {
		v.Known = &knownView{Reason: k.Reason, UntilBuild: k.UntilBuild, Expired: k.Expired, Rule: k.Rule}
		if k.Until != nil {
			until := leaks.UntilText(*k.Until)
			v.Known.Until = &until
		}
	}
	return v
}

func viewOfFigure(f *leaks.Figure) figuresView {
	return figuresView{Class: string(f.Class), Score: f.Score, Certain: f.Certain, Outstanding: f.Outstanding,
		Growth: f.Growth, Rate: f.Rate}
}

// filled is a list that is shown as an empty one where there is none.
func filled[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
