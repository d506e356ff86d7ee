package api_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/store"
)

type heldView struct {
	Hold *struct{ By, Reason string }
}

// Retention of a project is replaced as a whole: a field that is left out follows the server.
func TestRetention(t *testing.T) {
	n := start(t)
	n.do("PUT", evidence(), strings.NewReader(umdhLog(500))).want(t, 201, "")
	const path = "/api/v1/projects/shop/retention"
	type view struct {
		EvidenceDays *int64 `json:"evidence_days"`
		RunBytes     *int64 `json:"run_bytes"`
	}
	if v := decode[view](t, n.do("GET", path, nil).want(t, 200, "")); v.EvidenceDays != nil || v.RunBytes != nil {
		t.Errorf("%+v", v)
	}
	n.do("PUT", path, strings.NewReader(`{"evidence_days": 30}`)).want(t, 200, "")
	v := decode[view](t, n.do("PUT", path, strings.NewReader(`{"run_bytes": 0}`)).want(t, 200, ""))
	if v.EvidenceDays != nil || v.RunBytes == nil || *v.RunBytes != 0 {
		t.Errorf("%+v", v)
	}
	n.do("PUT", path, strings.NewReader(`{"run_days": -1}`)).want(t, 422, "invalid-run-days")
	n.do("PUT", path, strings.NewReader(`{"days": 1}`)).want(t, 422, "invalid-body")
	n.do("GET", "/api/v1/projects/none/retention", nil).want(t, 404, "not-found")
}

// While a legal hold stands on a run or its project, what would delete something of it is refused.
func TestHold(t *testing.T) {
	n := start(t)
	a := decode[struct{ ID, Run int64 }](t, n.do("PUT", evidence(), strings.NewReader(umdhLog(500))).want(t, 201, ""))
	run := fmt.Sprintf("/api/v1/runs/%d", a.Run)
	for _, of := range []string{run, "/api/v1/projects/shop"} {
		n.do("PUT", of+"/hold", strings.NewReader(`{"reason": ""}`)).want(t, 422, "invalid-reason")
		n.do("PUT", of+"/hold", strings.NewReader(`{"reason": "case 7"}`), "X-Heapdrift-Actor", "Ada").want(t, 204, "")
		for _, path := range []string{run, fmt.Sprintf("%s/evidence/%d", run, a.ID), "/api/v1/projects/shop/builds/100", "/api/v1/projects/shop"} {
			n.do("DELETE", path, nil).want(t, 409, "held")
		}
		shown := of
		if of != run {
			shown += "/retention"
		}
		if v := decode[heldView](t, n.do("GET", shown, nil).want(t, 200, "")); v.Hold == nil || v.Hold.By != "Ada" || v.Hold.Reason != "case 7" {
			t.Errorf("%s: %+v", shown, v.Hold)
		}
		n.do("DELETE", of+"/hold", nil).want(t, 204, "")
		n.do("DELETE", of+"/hold", nil).want(t, 204, "")
		if v := decode[heldView](t, n.do("GET", shown, nil).want(t, 200, "")); v.Hold != nil {
			t.Errorf("%s: %+v", shown, v.Hold)
		}
	}
	n.do("DELETE", run, nil).want(t, 204, "")
	n.do("PUT", run+"/hold", strings.NewReader(`{"reason": "late"}`)).want(t, 404, "not-found")
}

// The API says when a file was deleted by retention.
func TestExpiredEvidence(t *testing.T) {
	n := start(t)
	a := decode[struct{ ID, Run int64 }](t, n.do("PUT", evidence(), strings.NewReader(umdhLog(500))).want(t, 201, ""))
	n.do("POST", fmt.Sprintf("/api/v1/runs/%d/cancel", a.Run), nil) // no job is to work on it
	if gone, err := n.store.ExpireEvidence(t.Context(), store.RetentionDefaults{EvidenceBytes: 1}, 9); err != nil || gone.Files != 1 {
		t.Fatal(gone, err)
	}
	v := decode[struct {
		Evidence []struct {
			ExpiredAt *string `json:"expired_at"`
		}
	}](t, n.do("GET", fmt.Sprintf("/api/v1/runs/%d", a.Run), nil).want(t, 200, ""))
	if len(v.Evidence) != 1 || v.Evidence[0].ExpiredAt == nil {
		t.Errorf("%+v", v)
	}
	n.do("GET", fmt.Sprintf("/api/v1/runs/%d/evidence/%d", a.Run, a.ID), nil).want(t, 410, "evidence-expired")
}
