package push

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export/outcome"
	"heapdrift/internal/leaks"
)

// maxDetails is how many leaks of a verdict are asked about one by one; of more their signatures are listed.
const maxDetails = 200

// asked is how many leaks are asked about at once.
const asked = 4

// A signature is what the client needs to know of a leak on the server.
type signature struct {
	Title  string          `json:"title"`
	URL    string          `json:"url"`
	Blame  *analysis.Blame `json:"blame"`
	Frames []string        `json:"frames"`
	Known  *struct {
		Reason string `json:"reason"`
	} `json:"known"`
	Assignee      string `json:"assignee"`
	Owner         string `json:"owner"`
	Ticket        string `json:"ticket"`
	FirstBadBuild string `json:"first_bad_build"`
	Latest        figure `json:"latest"`
	History       []struct {
		Build    string `json:"build"`
		Scenario string `json:"scenario"`
		figure
	} `json:"history"`
	Evidence *struct {
		Run     int64 `json:"run"`
		Clauses []struct {
			Text  string `json:"text"`
			Holds *bool  `json:"holds"`
		} `json:"clauses"`
	} `json:"evidence"`
}

type figure struct {
	Class   string           `json:"class"`
	Score   *float64         `json:"score"`
	Certain bool             `json:"certain"`
	Growth  *analysis.Amount `json:"growth"`
	// Held is what is held when the evidence ends, of leaks at exit what was left.
	Held analysis.Amount `json:"outstanding"`
}

// Outcome makes the outcome of a verdict: each of its leaks with the facts that the server has about it. root is the
// folder of the sources, "" where there is none.
func (c *Client) Outcome(ctx context.Context, run *Run, v *RunVerdict, root string) (*outcome.Outcome, error) {
	o := &outcome.Outcome{
		Project: run.Project, Build: run.Build, Scenario: run.Scenario, Gate: v.Gate, Why: v.Why, Sentence: v.Sentence,
		Power: v.Power, URL: c.Page(v.URL),
		Problems: run.problems(),
	}
	if v.Baseline != nil {
		o.Baseline = v.Baseline.Build
	}
	if v.Record != nil {
		o.RecordCommand, o.KitURL = v.Record.Command, c.Page(v.Record.Kit)
	}
	if v.Matters != nil {
		o.Matters = v.Matters.Sentence
	}
	for _, list := range []struct {
		change     string
		signatures []string
	}{
		{outcome.ChangeNew, v.New}, {outcome.ChangeGrown, v.Grown}, {outcome.ChangePersisting, v.Persisting},
		{outcome.ChangeKnown, v.Known}, {outcome.ChangeFixed, v.Fixed},
	} {
		for _, s := range list.signatures {
			o.Leaks = append(o.Leaks, outcome.Leak{Signature: s, Change: list.change})
		}
	}
	if v.Baseline == nil &&
		(v.Gate == outcome.GatePassed || v.Gate == outcome.GateFailed || v.Gate == outcome.GateInconclusive) {
		found, err := c.found(ctx, run.ID)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if !slices.Contains(v.Known, f.Signature) {
				o.Leaks = append(o.Leaks, outcome.Leak{Signature: f.Signature, Change: outcome.ChangeFound})
			}
		}
	}
	why := reasonsOf(v)
	for _, s := range why.failing {
		if !slices.ContainsFunc(o.Leaks, func(l outcome.Leak) bool { return l.Signature == s }) { // a token that may not read the report learns of it here
			o.Leaks = append(o.Leaks, outcome.Leak{Signature: s, Change: outcome.ChangeFound})
		}
	}
	for _, u := range v.Undecided {
		i := slices.IndexFunc(o.Leaks, func(l outcome.Leak) bool { return l.Signature == u.Signature })
		if i < 0 {
			i = len(o.Leaks)
			o.Leaks = append(o.Leaks, outcome.Leak{Signature: u.Signature, Title: u.Title, Change: changeOf(u.Change)})
		}
		o.Leaks[i].Doubtful = true
	}
	for i := range o.Leaks {
		why.apply(&o.Leaks[i], v.Causes)
	}
	if err := c.fillDetails(ctx, run, o, root, why); err != nil {
		return nil, err
	}
	o.Sort()
	return o, nil
}

// changeOf is what a finding that is not decided could be, as a change.
func changeOf(could string) string {
	switch leaks.FailOn(could) {
	case leaks.FailOnNew, leaks.FailOnRegressed:
		return outcome.ChangeNew
	case leaks.FailOnGrown:
		return outcome.ChangeGrown
	}
	return outcome.ChangeFound
}

// problems are the files of a run that could not be read.
func (r *Run) problems() (list []string) {
	for _, e := range r.Evidence {
		if e.State == "failed" {
			why := "no reason is known"
			if e.Error != nil {
				why = e.Error.Code + ": " + e.Error.Message
			}
			list = append(list, e.Name+" could not be read: "+why)
		}
	}
	return list
}

// fillDetails fills in what the server knows of each leak.
func (c *Client) fillDetails(ctx context.Context, run *Run, o *outcome.Outcome, root string, why *reasons) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(asked)
	for i := range o.Leaks[:min(len(o.Leaks), maxDetails)] {
		l := &o.Leaks[i]
		group.Go(func() error {
			s, err := c.signature(ctx, run.Project, l.Signature)
			if s == nil || err != nil { // then the reasons of the gate are all that is known
				return err
			}
			s.into(l, run)
			l.URL = c.Page(s.URL)
			l.File, l.InSource = inSource(root, l.File)
			l.Fails = l.Fails || why.countsMore(l)
			return nil
		})
	}
	return group.Wait()
}

// signature asks for a leak; nil where the server does not know it under that name any more, or does not show it.
func (c *Client) signature(ctx context.Context, project, text string) (*signature, error) {
	path := "/api/v1/projects/" + url.PathEscape(project) + "/signatures/" + url.PathEscape(text)
	a, err := c.ask(ctx, request{method: http.MethodGet, path: path, timeout: answerTime})
	if isRefused(err, http.StatusNotFound) || isRefused(err, http.StatusForbidden) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := new(signature)
	return s, a.decode(s)
}

// into says of a leak what the server knows, in the build and scenario of the run where it is seen there.
func (s *signature) into(l *outcome.Leak, run *Run) {
	f := s.Latest
	for _, h := range s.History {
		if h.Build == run.Build && h.Scenario == run.Scenario && h.Class != "" {
			f = h.figure
		}
	}
	l.Title, l.Frames, l.FirstBad, l.Ticket = s.Title, s.Frames, s.FirstBadBuild, s.Ticket
	l.Class, l.Score, l.Certain = f.Class, f.Score, f.Certain
	if l.Owner = s.Assignee; l.Owner == "" {
		l.Owner = s.Owner
	}
	if s.Known != nil && l.Change == outcome.ChangeKnown {
		l.Known = s.Known.Reason
	}
	if f.Growth != nil && f.Growth.Bytes > 0 && l.Change != outcome.ChangeFixed {
		l.Growth = fmt.Sprintf("+%s in %s", quantity.Bytes(f.Growth.Bytes), quantity.Plural(f.Growth.Count, "block"))
	} else if f.Class == string(analysis.ClassLeftAtExit) && l.Change != outcome.ChangeFixed && f.Held.Count > 0 {
		l.Growth = outcome.LeftText(f.Held.Bytes, f.Held.Count)
	}
	if b := s.Blame; b != nil {
		l.Module, l.Function, l.File, l.Line = b.Module, b.Function, b.File, int(b.Line)
	}
	if s.Evidence != nil && s.Evidence.Run == run.ID {
		for _, clause := range s.Evidence.Clauses {
			mark := "?"
			if clause.Holds != nil {
				mark = map[bool]string{true: "✓", false: "✗"}[*clause.Holds]
			}
			l.Reasons = append(l.Reasons, mark+" "+clause.Text)
		}
	}
}

// found lists what leaks or grows in a run by its report, for runs that were compared with nothing. Findings stand near
// the beginning of a report, which may be large: the rest is not read.
func (c *Client) found(ctx context.Context, id int64) ([]foundLeak, error) {
	var tries attempts
	for {
		list, err := c.readFindings(ctx, id)
		if err == nil || isRefused(err, http.StatusNotFound) || isRefused(err, http.StatusForbidden) {
			return list, nil
		}
		if err := tries.again(ctx, c, err); err != nil {
			return nil, err
		}
	}
}

// A foundLeak is what a report says of a finding.
type foundLeak struct {
	Signature string         `json:"signature"`
	Verdict   analysis.Class `json:"verdict"`
}

func (c *Client) readFindings(ctx context.Context, id int64) ([]foundLeak, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	request, err := c.request(ctx, http.MethodGet, runPath(id)+"/report?format=json", http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, refusalOf(&answer{status: response.StatusCode, header: response.Header})
	}
	decoder := json.NewDecoder(response.Body)
	if err := toField(decoder, "findings"); err != nil {
		return nil, err
	}
	var list []foundLeak
	for decoder.More() {
		var f foundLeak
		if err := decoder.Decode(&f); err != nil {
			return nil, fmt.Errorf("read the report: %w", err)
		}
		if f.Verdict.IsSuspect() {
			list = append(list, f)
		}
	}
	return list, nil
}

// toField reads to the beginning of a list of the outermost object.
func toField(decoder *json.Decoder, name string) error {
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return fmt.Errorf("read the report: %w", err)
		}
		if key == name {
			_, err := decoder.Token()
			return err
		}
		var skipped json.RawMessage
		if err := decoder.Decode(&skipped); err != nil {
			return fmt.Errorf("read the report: %w", err)
		}
	}
	return errors.New("read the report: it has no " + strings.TrimSpace(name))
}
