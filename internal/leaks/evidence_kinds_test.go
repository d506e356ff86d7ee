package leaks_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
)

var evidenceKinds = []leaks.EvidenceKind{
	{Name: "Snapshots", Singular: "log", Kinds: []string{"log", "log-snapshot"}, Expected: true},
	{Name: "Trace", Singular: "trace", Kinds: []string{"trace"}, Expected: true},
	{Name: "Dump", Singular: "dump", Kinds: []string{"dump"}, Expected: true, PointerSearchRank: 4},
	{Name: "Debugger", Singular: "debugger log", Kinds: []string{"dbg"}, PointerSearchRank: 1},
}

// told is a run that shows a leak by kinds of evidence, each given as "kind class bytes".
func told(run int64, status analysis.VerdictStatus, witnesses ...string) leaks.EvidenceRun {
	r := leaks.EvidenceRun{RunID: run, Name: fmt.Sprint(run), Build: "4812", Scenario: "soak",
		Status: status, Shows: true, SpanNS: 7}
	for _, w := range witnesses {
		var kind, class string
		var bytes int64
		_, _ = fmt.Sscan(w, &kind, &class, &bytes)
		r.Kinds = append(r.Kinds, kind)
		r.ByKind = append(r.ByKind,
			analysis.KindResult{Kind: kind, Verdict: analysis.Class(class),
				Amounts: analysis.Amounts{Outstanding: analysis.Amount{Count: 2, Bytes: bytes},
					Growth: &analysis.Amount{Count: 1, Bytes: bytes / 2}}})
	}
	r.Figure.Rate = &score.Rate{Unit: "hour", Bytes: 5}
	return r
}

// saying prints the summary of each kind of evidence.
func saying(list []leaks.KindSummary) string {
	var parts []string
	for i := range list {
		t := &list[i]
		if t.GravestRun == nil {
			parts = append(parts, t.Name+": "+t.MissingText())
			continue
		}
		text := fmt.Sprintf("%s: %s in run %d, %d B", t.Name, t.Class, t.GravestRun.RunID, t.Outstanding.Bytes)
		if t.Rate != nil {
			text += ", rate"
		}
		if t.Unreachable != nil {
			text += fmt.Sprintf(", %d without a pointer", t.Unreachable.Count)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

func TestSummarizeKinds(t *testing.T) {
	silent := leaks.EvidenceRun{RunID: 9, Kinds: []string{"trace"}, Status: noLeak}
	clean := leaks.EvidenceRun{RunID: 8, Kinds: []string{"trace"}, Status: noLeak, Shows: true,
		Figure: figure(analysis.ClassTransient)}
	mixed := clean
	mixed.Kinds = []string{"trace", "log"}
	dumped := told(7, leaky, "log leak 400")
	dumped.Kinds, dumped.Unreachable = append(dumped.Kinds, "dump"), &analysis.Amount{Count: 3, Bytes: 300}
	reached := told(6, leaky, "log leak 400", "dump unknown 380")
	reached.Unreachable = &analysis.Amount{}
	both := told(5, leaky, "log leak 400")
	both.Kinds, both.Unreachable = append(both.Kinds, "dbg", "dump"), dumped.Unreachable
	looked := told(4, leaky, "log leak 400")
	looked.Kinds, looked.Unreachable = append(looked.Kinds, "dbg"), &analysis.Amount{Count: 2, Bytes: 200}
	notSearched := told(2, leaky, "log leak 400")
	notSearched.Kinds = append(notSearched.Kinds, "dump")
	unread := told(3, leaky, "log leak 400")
	unread.Unread = []string{"dump"}
	const noTrace, noDump, noLog = "Trace: No trace has been uploaded for this build.",
		"Dump: No dump has been uploaded for this build.", "Snapshots: No log has been uploaded for this build."
	for name, test := range map[string]struct {
		runs []leaks.EvidenceRun
		want string
		says string
	}{
		"nothing": {nil, noLog + "; " + noTrace + "; " + noDump, "no evidence of this build shows the leak"},
		"one run, one kind": {[]leaks.EvidenceRun{told(1, leaky, "log leak 400")},
			"Snapshots: leak in run 1, 400 B, rate; " + noTrace + "; " + noDump, "one kind of evidence shows the leak"},
		"one run, two kinds": {[]leaks.EvidenceRun{told(1, leaky, "trace leak 400", "log growing 200")},
			"Snapshots: growing in run 1, 200 B; Trace: leak in run 1, 400 B, rate; " + noDump,
			"2 kinds of evidence show the leak: leak (Trace), growing (Snapshots)"},
		"two runs, the gravest": {[]leaks.EvidenceRun{told(2, leaky, "log growing 900"), told(1, leaky, "log leak 400")},
			"Snapshots: leak in run 1, 400 B, rate; " + noTrace + "; " + noDump, "one kind of evidence shows the leak"},
		"two equal runs, newest": {[]leaks.EvidenceRun{told(2, leaky, "log leak 400"), told(1, leaky, "log leak 400")},
			"Snapshots: leak in run 2, 400 B, rate; " + noTrace + "; " + noDump, "one kind of evidence shows the leak"},
		"a trace that is silent": {[]leaks.EvidenceRun{silent, told(1, leaky, "log leak 400")},
			"Snapshots: leak in run 1, 400 B, rate; Trace: 1 run of this build has a trace, which does not show this leak.; " + noDump, "one kind of evidence shows the leak"},
		"two of them": {[]leaks.EvidenceRun{silent, silent}, noLog +
			"; Trace: 2 runs of this build have a trace; none shows this leak.; " + noDump,
			"no evidence of this build shows the leak"},
		"a trace that disagrees": {[]leaks.EvidenceRun{clean, told(1, leaky, "log leak 400")},
			"Snapshots: leak in run 1, 400 B, rate; Trace: transient in run 8, 0 B; " + noDump,
			"the kinds of evidence disagree: leak (Snapshots), no leak (Trace)"},
		"whose figures are unsure": {[]leaks.EvidenceRun{mixed},
			"Snapshots: 1 run of this build has a log, which does not show this leak.; Trace: 1 run of this build has a trace, which does not show this leak.; " + noDump, "no evidence of this build shows the leak"},
		"unexpected evidence": {[]leaks.EvidenceRun{told(1, leaky, "dbg growing 10")}, noLog + "; " + noTrace + "; " +
			noDump + "; Debugger: growing in run 1, 10 B, rate", "one kind of evidence shows the leak"},
		"a dump without stacks": {[]leaks.EvidenceRun{dumped}, "Snapshots: leak in run 7, 400 B, rate; " + noTrace +
			"; Dump: unknown in run 7, 0 B, 3 without a pointer",
			"2 kinds of evidence show the leak: leak (Snapshots), unreferenced (Dump)"},
		"a dump that was not searched": {[]leaks.EvidenceRun{notSearched}, "Snapshots: leak in run 2, 400 B, rate; " + noTrace +
			"; Dump: 1 run of this build has a dump, which does not show this leak.", "one kind of evidence shows the leak"},
		"another that looks": {[]leaks.EvidenceRun{both}, "Snapshots: leak in run 5, 400 B, rate; " + noTrace +
			"; Dump: unknown in run 5, 0 B, 3 without a pointer",
			"2 kinds of evidence show the leak: leak (Snapshots), unreferenced (Dump)"},
		"only the debugger looks": {[]leaks.EvidenceRun{looked}, "Snapshots: leak in run 4, 400 B, rate; " + noTrace + "; " +
			noDump + "; Debugger: unknown in run 4, 0 B, 2 without a pointer",
			"2 kinds of evidence show the leak: leak (Snapshots), unreferenced (Debugger)"},
		"a dump that is not read": {[]leaks.EvidenceRun{unread}, "Snapshots: leak in run 3, 400 B, rate; " + noTrace +
			"; Dump: 1 run has a dump that is not read yet, or cannot be read.", "one kind of evidence shows the leak"},
		"two of them, one is": {[]leaks.EvidenceRun{unread, unread, {RunID: 2, Kinds: []string{"dump"}}},
			"Snapshots: leak in run 3, 400 B, rate; " + noTrace +
				"; Dump: 1 run of this build has a dump, which does not show this leak. 2 runs have a dump that is not read yet, or cannot be read.", "one kind of evidence shows the leak"},
		"a dump with pointers": {[]leaks.EvidenceRun{reached}, "Snapshots: leak in run 6, 400 B, rate; " + noTrace +
			"; Dump: unknown in run 6, 380 B, 0 without a pointer", "leak (Snapshots), undecided (Dump)"},
		"all clean": {[]leaks.EvidenceRun{clean, told(1, noLeak, "log cache 400")},
			"Snapshots: cache in run 1, 400 B, rate; Trace: transient in run 8, 0 B; " + noDump,
			"2 kinds of evidence agree: no leak"},
		"undecided": {[]leaks.EvidenceRun{told(1, inconclusive, "log unknown 4", "trace unknown 4")},
			"Snapshots: unknown in run 1, 4 B, rate; Trace: unknown in run 1, 4 B; " + noDump,
			"2 kinds of evidence agree: undecided"},
		"all grow": {[]leaks.EvidenceRun{told(1, noLeak, "log growing 4", "trace growing 4",
			"dump growing 4")}, "Snapshots: growing in run 1, 4 B, rate; Trace: growing in run 1, 4 B; Dump: growing in run 1, 4 B", "3 kinds of evidence agree: growing"},
	} {
		list := leaks.SummarizeKinds(evidenceKinds, test.runs)
		if got := saying(list); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
		if got := leaks.AgreementText(list); got != test.says {
			t.Errorf("%s: %q, want %q", name, got, test.says)
		}
	}
}

// Memory that a trace held before its process ended counts, and there are bytes per block wherever there are blocks.
func TestKindSummaryBeforeExit(t *testing.T) {
	r := told(1, leaky, "trace leak 0")
	w := &r.ByKind[0]
	w.Outstanding, w.Growth = analysis.Amount{}, &analysis.Amount{}
	w.Lifetimes = &analysis.Lifetimes{AtExit: analysis.Amount{Count: 4, Bytes: 1600}}
	list := leaks.SummarizeKinds(evidenceKinds[1:2], []leaks.EvidenceRun{r})
	if got := &list[0]; !got.Ended || got.Outstanding.Bytes != 1600 || got.Growth.Bytes != 1600 || got.BytesPerBlock == nil ||
		*got.BytesPerBlock != 400 || got.SpanNS != 7 {
		t.Errorf("%+v", got)
	}
}
