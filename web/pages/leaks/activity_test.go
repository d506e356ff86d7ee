package leaks

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/store"
)

func TestSaidIsOneList(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 1, 12, minute, 0, 0, time.UTC) }
	v := signatureView{
		comments: []store.Comment{{Text: "second", At: at(2)}, {Text: "fourth", At: at(4)}},
		audit: []store.AuditRow{
			{Action: "triage", At: at(5), Before: json.RawMessage(`{"assignee": "ada"}`),
				After: json.RawMessage(`{"assignee": "bo"}`)},
			{Action: "comment", At: at(4)}, {Action: "state", At: at(3)}, {Action: "comment", At: at(2)},
		},
	}
	var said []string
	for _, line := range v.activity() {
		said = append(said, strings.TrimSpace(line.action+" "+line.text))
	}
	if got := strings.Join(said, "; "); got != "triage assignee: ada → bo; fourth; state; second" {
		t.Error(got)
	}
}
