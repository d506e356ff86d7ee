package push

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"heapdrift/internal/analysis/export/outcome"
	"heapdrift/internal/leaks"
)

// A Run is what the client needs to know of a run on the server.
type Run struct {
	ID       int64      `json:"id"`
	Project  string     `json:"project"`
	Build    string     `json:"build"`
	Branch   string     `json:"branch"`
	Scenario string     `json:"scenario"`
	Name     string     `json:"name"`
	Complete bool       `json:"complete"`
	Evidence []Evidence `json:"evidence"`
	// Warnings say what is odd about the build; an older server has none.
	Warnings []leaks.BuildWarning `json:"warnings"`
	Progress struct {
		Pending int `json:"pending"`
		Percent int `json:"percent"`
	} `json:"progress"`
}

// Evidence is a file of a run, as the server has it.
type Evidence struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	State  string `json:"state"` // "stored", "read" or "failed"
	Error  *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// has reports whether the server has read a file under that name; one that failed is read again when it is sent again.
func (r *Run) has(name, digest string) bool {
	for _, e := range r.Evidence {
		if e.Name == name && strings.EqualFold(e.SHA256, digest) {
			return e.State != "failed"
		}
	}
	return false
}

// holds reports whether the server has a file's content, whatever it made of it.
func (r *Run) holds(digest string) bool {
	for _, e := range r.Evidence {
		if strings.EqualFold(e.SHA256, digest) {
			return true
		}
	}
	return false
}

// PagePath is the address of the run's page, relative to the server.
func (r *Run) PagePath() string { return "/runs/" + strconv.FormatInt(r.ID, 10) }

// Run asks for the run with this id.
func (c *Client) Run(ctx context.Context, id int64) (*Run, error) {
	return c.run(ctx, http.MethodGet, runPath(id))
}

// Complete tells the server that no more evidence follows for a run.
func (c *Client) Complete(ctx context.Context, id int64) (*Run, error) {
	return c.run(ctx, http.MethodPost, runPath(id)+"/complete")
}

func (c *Client) run(ctx context.Context, method, path string) (*Run, error) {
	a, err := c.ask(ctx, request{method: method, path: path, timeout: answerTime})
	if err != nil {
		return nil, err
	}
	r := new(Run)
	return r, a.decode(r)
}

// ReportRecording tells the server which settings a recording has changed on this machine.
func (c *Client) ReportRecording(ctx context.Context, id int64, r *leaks.RecordingState) error {
	_, err := c.sendJSON(ctx, http.MethodPut, runPath(id)+"/recording", r)
	return err
}

// ReportRestored tells the server that no recording of a project on a host has changed settings any more.
func (c *Client) ReportRestored(ctx context.Context, project, host string) error {
	_, err := c.sendJSON(ctx, http.MethodPost, "/api/v1/projects/"+url.PathEscape(project)+"/restored",
		map[string]string{"host": host})
	return err
}

// ReportRestoredByKey tells the server that what the recordings with a key have changed is as before. It needs no
// token.
func (c *Client) ReportRestoredByKey(ctx context.Context, project, key string, at time.Time) error {
	_, err := c.sendJSON(ctx, http.MethodPost, "/api/v1/restored",
		map[string]any{"project": project, "key": key, "restored_at": at})
	return err
}

func runPath(id int64) string { return "/api/v1/runs/" + strconv.FormatInt(id, 10) }

// A RunVerdict is the server's decision on a run, field by field as the API has it.
type RunVerdict struct {
	RunID    int64     `json:"run"`
	State    string    `json:"state"`
	Status   string    `json:"status"`
	Gate     string    `json:"gate"` // one of outcome.Gate…
	Why      string    `json:"why"`
	FailOn   []string  `json:"fail_on"`
	Baseline *Baseline `json:"baseline"`
	// Reasons are what decided the gate, those that fail first; of one code the first few are listed and the others
	// counted.
	Reasons []leaks.Reason `json:"reasons"`

	New        signatures `json:"new"`
	Grown      signatures `json:"grown"`
	Fixed      signatures `json:"fixed"`
	Persisting signatures `json:"persisting"`
	Known      signatures `json:"known"`

	// Causes are the causes that several leaks share; empty where an older server does not say.
	Causes []leaks.LostTogether `json:"causes"`
	// Undecided are the findings that could fail the gate but are not decided; empty where an older server does not
	// say.
	Undecided []Undecided `json:"undecided"`
	// Matters is the growth from which a leak matters; nil where an older server does not say.
	Matters *leaks.DecisionThreshold `json:"matters"`
	// Rerun says that one more run of the same kind would probably decide.
	Rerun bool `json:"rerun"`
	// Record is the recording that would decide; nil where there is none, and where an older server does not say.
	Record *Recording `json:"record"`

	Power          string `json:"power"`
	Sentence       string `json:"sentence"`
	URL            string `json:"url"`
	Pending        int    `json:"pending"`         // how many jobs of the run are queued or running
	FailedEvidence int    `json:"failed_evidence"` // how many files could not be read

	// Text is the answer as it came, with the fields that this version does not know.
	Text json.RawMessage `json:"-"`
}

// A Recording is how to take evidence that would decide a run.
type Recording struct {
	Command string `json:"command"` // command line of heapdrift record; "" where the evidence names no program
	Kit     string `json:"kit"`     // page with scripts, relative to the server or whole
}

// HasField reports whether the server's answer has a field, even if it is null: an older server lacks some.
func (v *RunVerdict) HasField(field string) bool {
	var fields map[string]json.RawMessage
	return json.Unmarshal(v.Text, &fields) == nil && fields[field] != nil
}

// Undecided is a finding that could fail the gate but is not decided.
type Undecided struct {
	Signature   string   `json:"signature"`
	Title       string   `json:"title"`
	Change      string   `json:"change"`
	Probability *float64 `json:"probability"` // that it leaks, 0 to 1
	Bytes       *float64 `json:"bytes"`       // by which it grew in the run; nil where unknown
}

// signatures are the leaks of a list in a verdict. Servers give their signatures, or objects that have one.
type signatures []string

// UnmarshalJSON reads the list.
func (s *signatures) UnmarshalJSON(text []byte) error {
	var rows []json.RawMessage
	if err := json.Unmarshal(text, &rows); err != nil {
		return err
	}
	*s = make(signatures, len(rows))
	for i, row := range rows {
		if json.Unmarshal(row, &(*s)[i]) == nil {
			continue
		}
		var object struct {
			Signature string `json:"signature"`
		}
		if err := json.Unmarshal(row, &object); err != nil {
			return err
		}
		(*s)[i] = object.Signature
	}
	return nil
}

// A Baseline is what a run was compared with.
type Baseline struct {
	Build    string  `json:"build"`
	RunIDs   []int64 `json:"runs"`
	Sentence string  `json:"sentence"`
	URL      string  `json:"url"`
}

// longestLook is how long one request waits for a verdict: shorter than proxies wait for an answer.
const longestLook = 50 * time.Second

// A Question says what a call asks of a gate in addition to the policy; "" for nothing.
type Question struct {
	Baseline string // build to compare with
	FailOn   string // kinds of leaks: "new,grown"
	Matters  string // growth from which a leak matters: "1MB/day"
}

// AwaitVerdict waits until a run is decided, at most for wait, and returns the verdict as it is then. told gets how
// many jobs are left.
func (c *Client) AwaitVerdict(ctx context.Context, id int64, q Question, wait time.Duration,
	told func(pending int)) (*RunVerdict, error) {
	until := time.Now().Add(wait)
	for {
		look := max(min(time.Until(until), longestLook), 0).Round(time.Millisecond)
		query := url.Values{"wait": {look.String()}}
		for name, value := range map[string]string{"baseline": q.Baseline, "fail_on": q.FailOn, "matters": q.Matters} {
			if value != "" {
				query.Set(name, value)
			}
		}
		a, err := c.ask(ctx, request{method: http.MethodGet, path: runPath(id) + "/verdict?" + query.Encode(),
			timeout: look + answerTime})
		if err != nil {
			return nil, err
		}
		v := &RunVerdict{Text: a.body}
		if err := a.decode(v); err != nil {
			return nil, err
		}
		if v.Record != nil {
			v.Record.Kit = c.Page(v.Record.Kit)
		}
		if v.Gate != outcome.GatePending || !time.Now().Before(until) {
			return v, nil
		}
		told(v.Pending)
		// A server that shuts down answers before the time is up: it must not be asked in a circle.
		if err := c.Pause(ctx, min(time.Second, time.Until(until))); err != nil {
			return nil, err
		}
	}
}
