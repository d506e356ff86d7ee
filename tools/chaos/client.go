package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// A client sends files as a script does that follows docs/api.md: again after any 5xx and any broken connection, to any
// server.
type client struct {
	servers []string
	lenient bool // 500 is tried again
	mu      sync.Mutex
	runs    map[string]int64 // ids of runs by their names
	counts  map[string]int   // of files that were accepted, by run
	next    int
}

const (
	senders  = 4
	giveUp   = 5 * time.Minute // for one file
	tryAgain = 300 * time.Millisecond
)

// send sends files; suffix makes other runs of them.
func (c *client) send(ctx context.Context, files []file, suffix string) error {
	todo := make(chan file)
	var all sync.WaitGroup
	errs := make([]error, senders)
	for i := range senders {
		all.Go(func() {
			for f := range todo {
				if errs[i] == nil {
					f.run += suffix
					errs[i] = c.put(ctx, f)
				}
			}
		})
	}
	for _, f := range files {
		todo <- f
	}
	close(todo)
	all.Wait()
	return errors.Join(errs...)
}

// put sends a file until it is accepted or refused for good.
func (c *client) put(ctx context.Context, f file) error {
	query := url.Values{"project": {"chaos"}, "build": {"1"}, "scenario": {"s"}, "run": {f.run}, "name": {f.name}}
	for until := time.Now().Add(giveUp); time.Now().Before(until) && ctx.Err() == nil; rest(ctx, tryAgain) {
		status, body := c.do(ctx, http.MethodPut, "/api/v1/evidence?"+query.Encode(), f.content)
		switch {
		case status == http.StatusCreated || status == http.StatusOK || status == http.StatusAccepted:
			if f.refused {
				return fmt.Errorf("%s of %s was accepted", f.name, f.run)
			}
			var answer struct {
				Run int64 `json:"run"`
			}
			if err := json.Unmarshal(body, &answer); err != nil || answer.Run == 0 {
				return fmt.Errorf("answer to %s: %s: %w", f.name, body, err)
			}
			c.mu.Lock()
			if c.runs == nil {
				c.runs, c.counts = map[string]int64{}, map[string]int{}
			}
			c.runs[f.run] = answer.Run
			c.counts[f.run]++
			c.mu.Unlock()
			return nil
		case status >= 400 && status < 500 && status != http.StatusRequestTimeout && status != http.StatusTooManyRequests &&
			status != http.StatusLocked && status != http.StatusConflict:
			if !f.refused {
				return fmt.Errorf("%s of %s was refused: %d %s", f.name, f.run, status, body)
			}
			return nil
		case status == http.StatusInternalServerError && !c.lenient:
			return fmt.Errorf("%s of %s: an outage answers 500: %s", f.name, f.run, body)
		}
	}
	return fmt.Errorf("%s of %s was not accepted within %v", f.name, f.run, giveUp)
}

// do sends a request to the next server; status 0 says that the connection failed.
func (c *client) do(ctx context.Context, method, path string, body []byte) (status int, answer []byte) {
	c.mu.Lock()
	server := c.servers[c.next%len(c.servers)]
	c.next++
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, server+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil
	}
	defer func() { _ = got.Body.Close() }()
	answer, err = io.ReadAll(got.Body)
	if err != nil {
		return 0, nil
	}
	return got.StatusCode, answer
}

// An outcome is what became of a run.
type outcome struct {
	state    string
	evidence int
	report   string
}

// outcomes waits until all runs are at rest and returns them by name. A run is stuck where, for as long as jobs may
// take, it does not come to rest and no other does.
func (c *client) outcomes(ctx context.Context) (map[string]outcome, error) {
	out := map[string]outcome{}
	for _, name := range slices.Sorted(maps.Keys(c.runs)) {
		o, err := c.outcome(ctx, c.runs[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if o.evidence != c.counts[name] {
			return nil, fmt.Errorf("%s has %d files, %d were accepted", name, o.evidence, c.counts[name])
		}
		out[name] = o
	}
	return out, nil
}

func (c *client) outcome(ctx context.Context, run int64) (outcome, error) {
	pending, until := -1, time.Now().Add(settle)
	for looks := 1; ; looks++ {
		if looks%lookAround == 0 {
			if n := c.pending(ctx); n >= 0 && n != pending {
				pending, until = n, time.Now().Add(settle)
			}
		}
		status, body := c.do(ctx, http.MethodGet, fmt.Sprintf("/api/v1/runs/%d", run), nil)
		var view struct {
			State    string            `json:"state"`
			Evidence []json.RawMessage `json:"evidence"`
		}
		if status == http.StatusOK {
			if err := json.Unmarshal(body, &view); err != nil {
				return outcome{}, err
			}
		}
		if status == http.StatusOK && view.State != "processing" && view.State != "waiting" {
			status, report := c.do(ctx, http.MethodGet, fmt.Sprintf("/api/v1/runs/%d/report", run), nil)
			if status == http.StatusOK {
				return outcome{view.State, len(view.Evidence), canonical(report)}, nil
			}
		}
		if time.Now().After(until) || ctx.Err() != nil {
			return outcome{}, fmt.Errorf("run %d is stuck: %d %s", run, status, body)
		}
		rest(ctx, tryAgain)
	}
}

// rest waits before the next attempt, unless the context ends.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// lookAround is how many looks at a run go before one at all.
const lookAround = 30

// pending is how many of the runs are not at rest; -1 where no server says so.
func (c *client) pending(ctx context.Context) int {
	n := 0
	for _, run := range c.runs {
		status, body := c.do(ctx, http.MethodGet, fmt.Sprintf("/api/v1/runs/%d", run), nil)
		if status != http.StatusOK {
			return -1
		}
		if bytes.Contains(body, []byte(`"state":"processing"`)) {
			n++
		}
	}
	return n
}

// canonical is a report without what has to differ: nothing has, so far.
func canonical(report []byte) string { return strings.TrimSpace(string(report)) }

// compare returns what differs between the calm round and the storm, whose runs are those of the calm one several
// times: in states, and in reports where those are to be equal.
func compare(want, got map[string]outcome, reports bool) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(got)) {
		base := name[:strings.LastIndexByte(name, '-')]
		if w, g := want[base], got[name]; w.state != g.state || reports && w.report != g.report {
			errs = append(errs, fmt.Errorf("%s is %s with a report of %d bytes, calm it is %s with %d; they differ at byte %d",
				name, g.state, len(g.report), w.state, len(w.report), differ(w.report, g.report)))
		}
	}
	if len(got) == 0 {
		errs = append(errs, errors.New("nothing was sent in the storm"))
	}
	return errors.Join(errs...)
}

func differ(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
