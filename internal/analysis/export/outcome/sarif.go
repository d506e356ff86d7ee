package outcome

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"heapdrift/ingest/quantity"
)

// The objects of SARIF 2.1.0 (OASIS, section 3) that are written. Fields have the names of the specification.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Automation  *sarifAutomation  `json:"automationDetails,omitempty"`
		Provenance  []sarifProvenance `json:"versionControlProvenance,omitempty"`
		Results     []sarifResult     `json:"results"`
		Properties  map[string]string `json:"properties,omitempty"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string    `json:"id"`
		Name    string    `json:"name"`
		Short   sarifText `json:"shortDescription"`
		Help    sarifText `json:"help"`
		Default struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level      string           `json:"level"`
		Message    sarifText        `json:"message"`
		Descriptor *sarifDescriptor `json:"descriptor,omitempty"`
	}
	sarifDescriptor struct {
		ID string `json:"id"`
	}
	sarifAutomation struct {
		ID string `json:"id"`
	}
	sarifProvenance struct {
		Repository string `json:"repositoryUri"`
		Revision   string `json:"revisionId"`
	}
	sarifResult struct {
		Rule         string             `json:"ruleId"`
		Index        int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Baseline     string             `json:"baselineState,omitempty"`
		Rank         *float64           `json:"rank,omitempty"`
		Viewer       string             `json:"hostedViewerUri,omitempty"`
		Locations    []sarifLocation    `json:"locations,omitempty"`
		Stacks       []sarifStack       `json:"stacks,omitempty"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Status        string `json:"status"`
		Justification string `json:"justification,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
		Message  *sarifText     `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifStack struct {
		Message sarifText    `json:"message"`
		Frames  []sarifFrame `json:"frames"`
	}
	sarifFrame struct {
		Location sarifLocation `json:"location"`
	}
)

// sarifSchema is where the schema of the format is published.
const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// rules are the rules that results belong to. A leak that the gate can fail on is one rule, whatever grows without
// being certain is another, and blocks that were left at exit without being certain are the third.
var rules = []sarifRule{
	newRule("LEAK001", "NativeMemoryLeak", "error", "Native memory allocated here is never freed.",
		"The report of the run shows the evidence and the callers."),
	newRule("LEAK002", "GrowingNativeMemory", "warning",
		"Native memory allocated here grows; the evidence does not decide whether it leaks.",
		"Take more snapshots, or record longer, to decide."),
	newRule("LEAK003", "PossibleLeakAtExit", "warning",
		"Native memory allocated here was not freed at exit, and something may still have pointed to it.",
		"Free it before the process exits, or mark the leak as known."),
}

func newRule(id, name, level, short, help string) sarifRule {
	r := sarifRule{ID: id, Name: name, Short: sarifText{short}, Help: sarifText{help}}
	r.Default.Level = level
	return r
}

// baselineStates are the changes in the words of SARIF.
var baselineStates = map[string]string{ChangeNew: "new", ChangeGrown: "updated", ChangePersisting: "unchanged",
	ChangeKnown: "unchanged"}

// SARIF writes a log with one run and a result for each leak with a file: services refuse results without, or show them
// nowhere. Leaks without one are counted in a notification, which names those that fail the gate. A fixed leak is not
// in it: services close what is not there any more.
func SARIF(w io.Writer, o *Outcome) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "heapdrift", Version: o.Version, Rules: rules}},
		Results: []sarifResult{}, Properties: map[string]string{}}
	invocation := sarifInvocation{Successful: o.Gate == GatePassed && len(o.Problems) == 0 || o.Gate == GateFailed}
	texts := o.Problems
	if o.Gate != GatePassed && o.Gate != GateFailed {
		texts = append([]string{strings.TrimPrefix(o.Sentence+" "+o.Why, " ")}, texts...)
	}
	if text := withoutFile(o.Leaks); text != "" {
		texts = append(slices.Clone(texts), text)
	}
	for i, text := range texts {
		n := sarifNotification{Level: "warning", Message: sarifText{cmp.Or(plainText(text), o.Gate)}}
		if i == 0 && o.Code != "" {
			n.Level, n.Descriptor = "error", &sarifDescriptor{o.Code}
		}
		invocation.Notifications = append(invocation.Notifications, n)
	}
	run.Invocations = []sarifInvocation{invocation}
	if o.Project != "" && o.Scenario != "" { // results of several scenarios do not replace each other
		run.Automation = &sarifAutomation{"heapdrift/" + o.Project + "/" + o.Scenario + "/" + o.Build}
	}
	for _, p := range [][2]string{{"gate", o.Gate}, {"sentence", plainText(o.Sentence)}, {"url", o.URL},
		{"build", o.Build}, {"baseline", o.Baseline}, {"commit", o.Commit}} {
		if p[1] != "" {
			run.Properties[p[0]] = p[1]
		}
	}
	for i := range o.Leaks {
		if l := &o.Leaks[i]; l.Change != ChangeFixed && l.File != "" {
			run.Results = append(run.Results, resultOf(o, l))
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(sarifLog{sarifSchema, "2.1.0", []sarifRun{run}}); err != nil {
		return fmt.Errorf("export: write sarif: %w", err)
	}
	return nil
}

// withoutFile counts the leaks whose file is not known, and names those that fail the gate; "" for none.
func withoutFile(leaks []Leak) string {
	n, failing := int64(0), []string(nil)
	for i := range leaks {
		if l := &leaks[i]; l.Change != ChangeFixed && l.File == "" {
			n++
			if l.Fails {
				failing = append(failing, cmp.Or(l.Title, l.Signature))
			}
		}
	}
	switch {
	case n == 0:
		return ""
	case len(failing) == 0:
		return "Not listed: " + quantity.Plural(n, "leak") + " without a file; none fails the gate"
	}
	const named = 5
	text := fmt.Sprintf("Not listed: %s without a file; failing the gate: %s", quantity.Plural(n, "leak"),
		strings.Join(failing[:min(len(failing), named)], ", "))
	if more := len(failing) - named; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// classLeftAtExit is the class of leaks that do not grow.
const classLeftAtExit = "left-at-exit"

func resultOf(o *Outcome, l *Leak) sarifResult {
	r := sarifResult{Level: "warning", Index: 1, Fingerprints: map[string]string{"leakSignature/v1": l.Signature},
		Viewer: l.URL}
	switch {
	case l.Certain:
		r.Index = 0
	case l.Class == classLeftAtExit:
		r.Index = 2
	}
	r.Rule = rules[r.Index].ID
	if l.Fails {
		r.Level = "error"
	}
	if o.Baseline != "" {
		r.Baseline = baselineStates[l.Change]
	}
	text := l.Headline() + ": " + l.Text()
	if len(l.Reasons) > 0 {
		text += "\n\n" + strings.Join(l.Reasons, "\n")
	}
	r.Message.Text = plainText(text)
	if l.Score != nil {
		rank := min(max(*l.Score, 0), 1) * 100
		r.Rank = &rank
	}
	if l.Change == ChangeKnown {
		r.Level = "note"
		r.Suppressions = []sarifSuppression{{"external", "accepted", plainText(l.Known)}}
	}
	if location := locationOf(l); location != nil {
		r.Locations = []sarifLocation{*location}
	}
	if len(l.Frames) > 0 {
		stack := sarifStack{Message: sarifText{"the frames of the signature, the blamed function first"}}
		for _, f := range l.Frames {
			stack.Frames = append(stack.Frames, sarifFrame{sarifLocation{Message: &sarifText{plainText(f)}}})
		}
		r.Stacks = []sarifStack{stack}
	}
	return r
}

// locationOf is where a leak is, as far as that is known.
func locationOf(l *Leak) *sarifLocation {
	var location sarifLocation
	if l.File != "" {
		physical := sarifPhysical{Artifact: sarifArtifact{URI: fileURI(l.File)}}
		if l.InSource {
			physical.Artifact.Base = "%SRCROOT%"
		}
		if l.Line > 0 {
			physical.Region = &sarifRegion{l.Line}
		}
		location.Physical = &physical
	}
	if l.Function != "" || l.Module != "" {
		location.Logical = []sarifLogical{{plainText(strings.Trim(l.Module+"!"+l.Function, "!")), "function"}}
	}
	if location.Physical == nil && location.Logical == nil {
		return nil
	}
	return &location
}

// fileURI is a path as a URI: absolute paths of Windows become file: URIs, others stay relative.
func fileURI(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	elements := strings.Split(path, "/")
	for i := range elements {
		elements[i] = url.PathEscape(elements[i])
	}
	escaped := strings.Join(elements, "/")
	switch {
	case len(path) > 1 && path[1] == ':':
		return "file:///" + path[:2] + strings.Join(slices.Insert(elements[1:], 0, ""), "/")
	case strings.HasPrefix(path, "//"):
		return "file:" + escaped
	case strings.HasPrefix(path, "/"):
		return "file://" + escaped
	case strings.Contains(elements[0], ":"): // would be read as a scheme
		return "./" + escaped
	}
	return escaped
}

// plainText drops what would steer a terminal.
func plainText(s string) string { return xmlText(s) }
