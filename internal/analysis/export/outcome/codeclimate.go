package outcome

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// A climateIssue is an issue of the Code Climate specification, in the fields that GitLab reads.
type climateIssue struct {
	Type        string   `json:"type"`
	Description string   `json:"description"`
	Check       string   `json:"check_name"`
	Fingerprint string   `json:"fingerprint"`
	Severity    string   `json:"severity"`
	Categories  []string `json:"categories"`
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin int `json:"begin"`
		} `json:"lines"`
	} `json:"location"`
}

// CodeClimate writes a list of issues. Their fingerprint is the signature: a leak that moves to another line stays the
// same issue. Fixed and known leaks are left out: GitLab shows what appears and disappears between two lists.
func CodeClimate(w io.Writer, o *Outcome) error {
	issues := []climateIssue{}
	if o.Gate == GateError { // an empty list would look as if every leak were gone
		issue := climateIssue{Type: "issue", Description: plainText("heapdrift has no verdict: " + o.Sentence),
			Check: "no-verdict", Severity: "blocker", Categories: []string{"Performance"},
			Fingerprint: fingerprint(o.Scenario, "no-verdict "+o.Code)}
		issue.Location.Path, issue.Location.Lines.Begin = "unknown", 1
		issues = append(issues, issue)
	}
	for i := range o.Leaks {
		l := &o.Leaks[i]
		if l.Change == ChangeFixed || l.Change == ChangeKnown {
			continue
		}
		issue := climateIssue{Type: "issue", Description: plainText(l.Headline() + ": " + l.Text()),
			Check: "native-memory-leak", Severity: "minor", Categories: []string{"Performance"}}
		switch {
		case l.Fails:
			issue.Severity = "critical"
		case l.Certain:
			issue.Severity = "major"
		}
		issue.Fingerprint = fingerprint(o.Scenario, l.Signature)
		// A path and a line must be there: a leak without a line is shown at its module.
		issue.Location.Path = strings.ReplaceAll(cmp.Or(l.File, l.Module, "unknown"), `\`, "/")
		issue.Location.Lines.Begin = max(l.Line, 1)
		issues = append(issues, issue)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(issues); err != nil {
		return fmt.Errorf("export: write codeclimate: %w", err)
	}
	return nil
}

// fingerprint tells issues apart over pipelines.
func fingerprint(scenario, identity string) string {
	sum := sha256.Sum256([]byte(scenario + "\x00" + identity))
	return hex.EncodeToString(sum[:16])
}
