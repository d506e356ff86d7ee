package push

import (
	"context"
	"net/http"

	"heapdrift/internal/analysis"
)

// An Acceptance is what the server accepted of a run.
type Acceptance struct {
	Accepted Review `json:"accepted"`
	Left     Review `json:"left"`     // leaks that are not accepted
	Sentence string `json:"sentence"` // how the run stands now; "" where no leak is known
}

// A Review are leaks of a run, by place and by test.
type Review struct {
	GroupFigures
	Places []PlaceGroup `json:"places"` // those that hold most first
	Tests  []TestGroup  `json:"tests"`
}

// GroupFigures are the figures of a group of leaks.
type GroupFigures struct {
	Leaks    int             `json:"leaks"`
	Certain  int             `json:"certain"`
	Possible int             `json:"possible"`
	Held     analysis.Amount `json:"held"`
}

// A PlaceGroup are the leaks of a module and file.
type PlaceGroup struct {
	Module string `json:"module"`
	File   string `json:"file"`
	GroupFigures
}

// A TestGroup are the leaks that one test shows, those that several show, or those outside of tests.
type TestGroup struct {
	Test    string `json:"test"`
	Several bool   `json:"several"`
	GroupFigures
}

// Accept marks the leaks of a run as known, except those that a pattern names: by module, file, test or signature.
func (c *Client) Accept(ctx context.Context, run int64, except []string) (*Acceptance, error) {
	if except == nil {
		except = []string{}
	}
	a, err := c.sendJSON(ctx, http.MethodPost, runPath(run)+"/accept", map[string][]string{"except": except})
	if err != nil {
		return nil, err
	}
	accepted := new(Acceptance)
	return accepted, a.decode(accepted)
}
