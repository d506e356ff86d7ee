package analysis

import (
	"context"

	"heapdrift/ingest/capture"
)

// A draft is a report while it is made: the report as far as it goes, and what the steps tell each other. Analyze
// makes one draft of the evidence that the report is on, and one of each kind of evidence beside it.
type draft struct {
	report *Report

	// What is given at the beginning. chosen and inputs are those of the report: a draft of evidence beside it has none.
	opt    Options
	inputs []Input
	chosen *choice
	parts  []part // of one kind: those that the sites are of
	shape  capture.Shape
	others []part // of the same run: they may have found blocks that nothing points to

	// What the steps give.
	series       *series
	table        *frameTable
	judge        *judge
	spans        *capture.SiteSpans // when the blocks of each site came and went; empty of a trace
	judged       []Snapshot         // those that findings are judged by: of the longest life of the process
	sites        []*judgedSite
	findings     []*draftFinding // as the report will have them
	settled      bool            // the time of Options.Settle was left out
	unnamed      Amount          // sites whose frame to blame has no function, and what they hold
	unnamedEnded bool            // they held it until the process ended
	powerless    string          // why Power is nil, in words; "" where it is not, or there is nothing to say
	doubted      *Warning        // why the process or the order of the evidence is not certain; nil where both are
	testLeaks    []testLeak      // of lists of leaks at exit that were printed in tests
	shown        int             // findings that somebody will look at
}

// A step makes a part of the report. Its error is the context's.
type step func(*draft, context.Context) error

// always is a step that takes too little time to be stopped.
func always(do func(*draft)) step {
	return func(d *draft, _ context.Context) error {
		do(d)
		return nil
	}
}

// seriesSteps make the draft of evidence of one kind: without what other evidence says, and without a verdict.
var seriesSteps = []step{
	//                                  needs                                gives
	(*draft).merge,                  // parts                                series
	(*draft).findUnreachable,        // series, others                       the blocks of the series that nothing points to
	always((*draft).describeSeries), // series                               Modules, table, Snapshots without amounts, Work
	always((*draft).describeTrace),  // parts                                Trace, Window
	always((*draft).settle),         // series, Snapshots                    settled
	(*draft).prepareJudge,           // series, Snapshots, Trace, Work       spans, judge, judged
	(*draft).judgeSites,             // series, table, spans, judge          sites, Sites, findings without text, unnamed
	always((*draft).listTestLeaks),  // series, sites                        testLeaks
	always((*draft).sumUp),          // series, Snapshots                    Totals, Heaps, the amounts of Snapshots
	always((*draft).measurePower),   // judge, sites, Totals                 Power or powerless, PartLengths
	always((*draft).countFrames),    // table, Sites, Modules                frames and stakes of Modules
	always((*draft).warnOfSeries),   // series, unnamed, Modules             Warnings, doubted
}

// runSteps make the draft of the report's own evidence the report on the run.
var runSteps = []step{
	//                                   needs                                gives
	(*draft).describeShown,           // findings                             the text of those that are shown
	(*draft).addOtherKinds,           // chosen, findings                     what other kinds of evidence say of findings
	(*draft).addMemory,               // chosen, table                        Memory, MemoryHistory, Reported
	always((*draft).setHeldAtExit),   // findings, Sites, Heaps, Totals       their HeldAtExit
	always((*draft).listUnreached),   // findings                             Unreachable
	always((*draft).forgetUnfound),   // findings, Memory                     Memory without signatures of no finding
	always((*draft).listEvidence),    // inputs, chosen                       Evidence
	always((*draft).listExits),       // chosen                               ListsExit, ExitLists
	always((*draft).listTests),       // testLeaks, findings, ExitLists       ExitTests
	always((*draft).warnOfChoice),    // chosen, Warnings                     Warnings, doubted
	always((*draft).doubtIncomplete), // Warnings, doubted                    findings that are not certain, no Power
	always((*draft).doubtAmongMany),  // findings                             findings that are not certain
	(*draft).findCauses,              // findings, Sites, judged              Causes, and the Cause of findings
	(*draft).describeCauses,          // findings, Causes                     the text of as many more findings
	always((*draft).conclude),        // all of the above                     Verdict, Observation, the Risk of findings
	always((*draft).listFindings),    // findings                             Findings
	always((*draft).joinStacks),      // table, Sites, Memory                 Stacks without equal ones
}

// draftOf makes the draft of parts that are of one kind. others are other evidence of the run.
func draftOf(ctx context.Context, parts, others []part, opt *Options) (*draft, error) {
	d := &draft{opt: *opt, parts: parts, others: others, shape: parts[len(parts)-1].Shape}
	d.report = &Report{Schema: Schema, Process: processOf(processIn(parts)), Heaps: []Heap{}, Stacks: newStacks()}
	return d, d.take(ctx, seriesSteps)
}

func (d *draft) take(ctx context.Context, steps []step) error {
	for _, step := range steps {
		if err := step(d, ctx); err != nil {
			return err
		}
	}
	return nil
}

// listsNothing reports whether the evidence has no sites, and says so.
func (d *draft) listsNothing() bool { return d.shape == capture.ShapeFacts }

// listsAll reports whether the evidence lists all outstanding blocks, or all allocations of its time.
func (d *draft) listsAll() bool {
	return d.shape != capture.ShapeFacts && d.shape != capture.ShapeDifference
}
