package pages_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
)

// An event is one that a stream has sent.
type event struct{ name, data string }

// listen opens a run's stream.
func (s *site) listen(run int64) <-chan event {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	s.t.Cleanup(cancel)
	req := must[*http.Request](s.t)(http.NewRequestWithContext(ctx, http.MethodGet,
		fmt.Sprintf("%s/runs/%d/events", s.url, run), nil))
	res := must[*http.Response](s.t)(http.DefaultClient.Do(req))
	if got := res.Header.Get("Content-Type"); got != "text/event-stream" || res.Header.Get("X-Accel-Buffering") != "no" {
		s.t.Errorf("headers %v", res.Header)
	}
	events := make(chan event, 100)
	go func() {
		defer close(events)
		defer func() { _ = res.Body.Close() }()
		var e event
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch {
			case name == "event":
				e.name = value
			case name == "data":
				e.data += value + "\n"
			case lines.Text() == "" && e.name != "":
				events <- e
				e = event{}
			}
		}
	}()
	return events
}

// next waits for an event with the name that holds the text.
func next(t testing.TB, events <-chan event, name, text string) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		select {
		case e, open := <-events:
			if !open {
				t.Fatalf("the stream ended before %s with %q", name, text)
			}
			if e.name == name && strings.Contains(e.data, text) {
				return
			}
		case <-deadline:
			t.Fatalf("no %s with %q", name, text)
		}
	}
}

func TestStagesAreStreamedToTheEnd(t *testing.T) {
	s := open(t)
	run := addEvidence(t, s.store, target, "shopd-1.log").RunID
	bad := addEvidence(t, s.store, target, "photo.jpg")
	events := s.listen(run)
	next(t, events, "headline", "Reading the evidence: 0 of 2 files done")
	next(t, events, "progress", "waiting for a worker")
	first := claim(t, s.store, store.JobRead, run)
	if err := s.store.UpdateProgress(t.Context(), first, 37, "reading"); err != nil {
		t.Fatal(err)
	}
	next(t, events, "progress", `value="37"`)
	fail(t, s.store, run, store.Failure{Code: "unknown-format", Message: bad.Name + ": this is a <picture>", Final: true})
	next(t, events, "progress", "this is a &lt;picture&gt;")
	c := capturesOf(shop, 1)[0]
	if err := s.store.CreateCaptures(t.Context(), first, []store.StoredCapture{{Capture: c, Artifact: "a"}}); err != nil {
		t.Fatal(err)
	}
	next(t, events, "headline", "Resolving symbols")
	r := must[*analysis.Report](t)(analysis.Analyze(t.Context(),
		[]analysis.Input{{Files: []analysis.File{{Name: "shopd-1.log"}}, Captures: []*capture.Capture{c}}},
		analysis.Options{}))
	saveReport(t, s.store, run, r)
	next(t, events, "done", "")
	if _, open := <-events; open {
		t.Error("the stream goes on behind done")
	}
	page := s.page(fmt.Sprintf("/runs/%d", run))
	has(t, page, "photo.jpg", "unknown-format", "Held memory", "not read: unknown-format")
	next(t, s.listen(run), "done", "") // the stream of a ready run ends at once
}

func TestMoreEvidenceForAReport(t *testing.T) {
	s := open(t)
	run := addRun(t, s.store, target, capturesOf(shop, 2))
	addEvidence(t, s.store, target, "shopd-3.log")
	page := s.page(fmt.Sprintf("/runs/%d", run))
	has(t, page, "grew by", "sse-connect", "shopd-3.log", "waiting for a worker", "Held memory")
}

func TestNothingCouldBeRead(t *testing.T) {
	s := open(t)
	run := addEvidence(t, s.store, target, "photo.jpg").RunID
	fail(t, s.store, run, store.Failure{Code: "unknown-format", Message: "this is a picture", Final: true})
	page := s.page(fmt.Sprintf("/runs/%d", run))
	has(t, page, "No report", "The file has an unknown format", "Upload others for the same run",
		"photo.jpg", "not read", "Upload a trace, dump or log of a tool",
		"unknown-format", "this is a picture")
	lacks(t, page, "sse-connect", "http-equiv")
}

// The page of the run and the list do not call a file unreadable that was read and holds nothing.
func TestFilesThatHoldNothing(t *testing.T) {
	s := open(t)
	empty := store.Failure{Code: "no-memory-events", Message: "the trace holds neither heap nor VirtualAlloc events",
		Final: true}
	run := addEvidence(t, s.store, target, "quiet.etl").RunID
	fail(t, s.store, run, empty)
	page, list := fmt.Sprintf("/runs/%d", run), "/projects/"+target.Project
	has(t, s.page(page), "The file has no heap events", "read: no usable data",
		"Record again with heap tracing", "no-memory-events", "neither heap nor VirtualAlloc events")
	lacks(t, s.page(page), "could not be read", "not read")
	has(t, s.page(list), "The file has no heap events")
	addEvidence(t, s.store, target, "quiet-2.etl")
	fail(t, s.store, run, empty)
	has(t, s.page(page), "Each of 2 files has no heap events")
	addEvidence(t, s.store, target, "cut.dmp")
	fail(t, s.store, run, store.Failure{Code: "truncated", Message: "the file ends early", Final: true})
	has(t, s.page(page), "3 files could not be used, for different reasons", "It is truncated")
	has(t, s.page(list), "3 files could not be used")
}

func TestAnalysisFailed(t *testing.T) {
	s := open(t)
	run := addEvidence(t, s.store, target, "a.log").RunID
	if err := s.store.CreateCaptures(t.Context(), claim(t, s.store, store.JobRead, run), nil); err != nil {
		t.Fatal(err)
	}
	saveNames(t, s.store, run)
	if err := s.store.FailJob(t.Context(), claim(t, s.store, store.JobAnalyse, run),
		store.Failure{Code: "no-captures", Message: "nothing to analyse", Final: true}); err != nil {
		t.Fatal(err)
	}
	has(t, s.page(fmt.Sprintf("/runs/%d", run)), "The evidence could not be analysed", "no-captures",
		"nothing to analyse", "Report", "failed")
}

// A job that is tried again says why.
func TestRetriesAreShown(t *testing.T) {
	s := open(t)
	run := addEvidence(t, s.store, target, "a.log").RunID
	fail(t, s.store, run, store.Failure{Code: "internal", Message: "the disk was full"})
	has(t, s.page(fmt.Sprintf("/runs/%d", run)), "waiting to retry; attempt 1 failed: the disk was full")
}
