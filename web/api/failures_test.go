package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// Failures are listed by their cause, and tried again by it, once.
func TestFailures(t *testing.T) {
	n := start(t)
	if got := n.do("GET", "/api/v1/failures", nil).want(t, 200, ""); strings.TrimSpace(string(got.body)) != `{"causes":[]}` {
		t.Errorf("%s", got.body)
	}
	for i := range 2 {
		if _, err := n.store.CreateEvidence(t.Context(), leaks.UploadTarget{Project: "p", Build: "1", Scenario: "s", Run: fmt.Sprint(i)},
			store.Evidence{Name: "a.txt", SHA256: fmt.Sprint(i), Bytes: 1, Kind: "umdh"}); err != nil {
			t.Fatal(err)
		}
	}
	due, err := n.store.DispatchAllJobs(t.Context(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for i, job := range due {
		lease, err := n.store.ClaimJob(t.Context(), job.ID, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.store.FailJob(t.Context(), lease, store.Failure{Code: "internal", Message: "x", Final: true, Cause: fmt.Sprint("disk ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	type cause struct {
		Code, Cause string
		Jobs, Runs  int
	}
	list := decode[struct{ Causes []cause }](t, n.do("GET", "/api/v1/failures", nil).want(t, 200, ""))
	if fmt.Sprint(list.Causes) != "[{internal disk # 2 2}]" {
		t.Errorf("%+v", list)
	}
	for _, want := range []int{2, 0} {
		done := decode[struct{ Runs, Jobs int }](t, n.do("POST", "/api/v1/failures/retry",
			strings.NewReader(`{"code":"internal","cause":"disk #"}`), "Content-Type", "application/json").want(t, 202, ""))
		if done.Runs != want || done.Jobs != want {
			t.Errorf("%+v, want %d", done, want)
		}
	}
	n.do("POST", "/api/v1/failures/retry", strings.NewReader(`{"code":"internal","cause":"\u0000"}`), "Content-Type", "application/json").want(t, 202, "")
}
