package run_test

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
	"heapdrift/web/pages/pagestest"
)

// An event is one that a stream has sent.
type event struct{ name, data string }

// listen opens a run's stream.
func listen(s *pagestest.Server, run int64) <-chan event {
	s.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	s.T.Cleanup(cancel)
	req := pagestest.Must[*http.Request](s.T)(http.NewRequestWithContext(ctx, http.MethodGet,
		fmt.Sprintf("%s/runs/%d/events", s.URL, run), nil))
	res := pagestest.Must[*http.Response](s.T)(http.DefaultClient.Do(req))
	if got := res.Header.Get("Content-Type"); got != "text/event-stream" || res.Header.Get("X-Accel-Buffering") != "no" {
		s.T.Errorf("headers %v", res.Header)
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
	s := pagestest.Open(t)
	run := pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, "shopd-1.log").RunID
	bad := pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, "photo.jpg")
	events := listen(s, run)
	next(t, events, "headline", "Reading the evidence: 0 of 2 files done")
	next(t, events, "progress", "waiting for a worker")
	first := pagestest.Claim(t, s.Store, store.JobRead, run)
	if err := s.Store.UpdateProgress(t.Context(), first, 37, "reading"); err != nil {
		t.Fatal(err)
	}
	next(t, events, "progress", `value="37"`)
	pagestest.FailRead(t, s.Store, run, store.Failure{Code: "unknown-format", Message: bad.Name + ": this is a <picture>",
		Final: true})
	next(t, events, "progress", "this is a &lt;picture&gt;")
	c := pagestest.CapturesOf(pagestest.Shop, 1)[0]
	if err := s.Store.CreateCaptures(t.Context(), first, []store.StoredCapture{{Capture: c, ArtifactKey: "a"}}); err != nil {
		t.Fatal(err)
	}
	next(t, events, "headline", "Resolving symbols")
	r := pagestest.Must[*analysis.Report](t)(analysis.Analyze(t.Context(),
		[]analysis.Input{{Files: []analysis.File{{Name: "shopd-1.log"}}, Captures: []*capture.Capture{c}}},
		analysis.Options{}))
	pagestest.SaveReport(t, s.Store, run, r)
	next(t, events, "done", "")
	if _, open := <-events; open {
		t.Error("the stream goes on behind done")
	}
	page := s.Page(fmt.Sprintf("/runs/%d", run))
	pagestest.Has(t, page, "photo.jpg", "unknown-format", "Held memory", "not read: unknown-format")
	next(t, listen(s, run), "done", "") // the stream of a ready run ends at once
}

func TestMoreEvidenceForAReport(t *testing.T) {
	s := pagestest.Open(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.Shop, 2))
	pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, "shopd-3.log")
	page := s.Page(fmt.Sprintf("/runs/%d", run))
	pagestest.Has(t, page, "grew by", "sse-connect", "shopd-3.log", "waiting for a worker", "Held memory")
}

func TestNothingCouldBeRead(t *testing.T) {
	s := pagestest.Open(t)
	run := pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, "photo.jpg").RunID
	pagestest.FailRead(t, s.Store, run, store.Failure{Code: "unknown-format", Message: "this is a picture", Final: true})
	page := s.Page(fmt.Sprintf("/runs/%d", run))
	pagestest.Has(t, page, "No report", "The file has an unknown format", "Upload others for the same run",
		"photo.jpg", "not read", "Upload a trace, dump or log of a tool",
		"unknown-format", "this is a picture")
	pagestest.Lacks(t, page, "sse-connect", "http-equiv")
}

// The page of the run and the list do not call a file unreadable that was read and holds nothing.
func TestFilesThatHoldNothing(t *testing.T) {
	s := pagestest.Open(t)
	empty := store.Failure{Code: "no-memory-events", Message: "the trace holds neither heap nor VirtualAlloc events",
		Final: true}
	run := pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, "quiet.etl").RunID
	pagestest.FailRead(t, s.Store, run, empty)
	page, list := fmt.Sprintf("/runs/%d", run), "/projects/"+pagestest.DefaultTarget.Project
	pagestest.Has(t, s.Page(page), "The file has no heap events", "read: no usable data",
		"Record again with heap tracing", "no-memory-events", "neither heap nor VirtualAlloc events")
	pagestest.Lacks(t, s.Page(page), "could not be read", "not read")
	pagestest.Has(t, s.Page(list), "The file has no heap events")
	pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, "quiet-2.etl")
	pagestest.FailRead(t, s.Store, run, empty)
	pagestest.Has(t, s.Page(page), "Each of 2 files has no heap events")
	pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, "cut.dmp")
	pagestest.FailRead(t, s.Store, run, store.Failure{Code: "truncated", Message: "the file ends early", Final: true})
	pagestest.Has(t, s.Page(page), "3 files could not be used, for different reasons", "It is truncated")
	pagestest.Has(t, s.Page(list), "3 files could not be used")
}

func TestAnalysisFailed(t *testing.T) {
	s := pagestest.Open(t)
	run := pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, "a.log").RunID
	if err := s.Store.CreateCaptures(t.Context(), pagestest.Claim(t, s.Store, store.JobRead, run), nil); err != nil {
		t.Fatal(err)
	}
	pagestest.SaveNames(t, s.Store, run)
	if err := s.Store.FailJob(t.Context(), pagestest.Claim(t, s.Store, store.JobAnalyse, run),
		store.Failure{Code: "no-captures", Message: "nothing to analyse", Final: true}); err != nil {
		t.Fatal(err)
	}
	pagestest.Has(t, s.Page(fmt.Sprintf("/runs/%d", run)), "The evidence could not be analysed", "no-captures",
		"nothing to analyse", "Report", "failed")
}

// A job that is tried again says why.
func TestRetriesAreShown(t *testing.T) {
	s := pagestest.Open(t)
	run := pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, "a.log").RunID
	pagestest.FailRead(t, s.Store, run, store.Failure{Code: "internal", Message: "the disk was full"})
	pagestest.Has(t, s.Page(fmt.Sprintf("/runs/%d", run)), "waiting to retry; attempt 1 failed: the disk was full")
}
