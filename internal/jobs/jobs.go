// Package jobs is the table of jobs: their kinds in the order in which they follow one another, and the stages that a
// job of each kind goes through. Workers report progress by it, the store queues by it, and pages show it.
package jobs

import "slices"

// The kinds of jobs, as the database has them.
const (
	KindRead      = "read"      // evidence → captures
	KindSymbolise = "symbolise" // captures of a run → names of their frames
	KindAnalyse   = "analyse"   // captures of a run and their names → report
)

// The stages, as pages and the API show them.
const (
	Reading            = "reading"
	OpeningTrace       = "opening the trace"
	ReadingTrace       = "reading the trace"
	StoringAllocations = "storing allocations"
	StoringCaptures    = "storing captures"
	LoadingCaptures    = "loading captures"
	NamingFrames       = "naming frames"
	StoringNames       = "storing names"
	Analysing          = "analysing"
	WritingReport      = "writing the report"
	StoringSites       = "storing sites"
)

// A Stage is a part of a job and its share of the job's percents.
type Stage struct {
	Name  string
	Share int // percent of the job
}

// A StageList is the stages of a job in their order. Their shares add up to 100.
type StageList []Stage

// The ways that jobs go: reading snapshots, reading a trace, naming frames, making the report.
var (
	SnapshotStages = StageList{{Reading, 90}, {StoringCaptures, 10}}
	TraceStages    = StageList{{OpeningTrace, 0}, {ReadingTrace, 80}, {StoringAllocations, 10}, {StoringCaptures, 10}}
	NameStages     = StageList{{LoadingCaptures, 30}, {NamingFrames, 60}, {StoringNames, 10}}
	ReportStages   = StageList{{LoadingCaptures, 50}, {Analysing, 20}, {WritingReport, 15}, {StoringSites, 15}}
)

// A Kind is a kind of job.
type Kind struct {
	Name  string
	Title string      // of its line on pages; "" where that is the name of a file
	Next  string      // the kind of job that its result queues for the run; "" for none
	Ways  []StageList // a job goes through the stages of one of them
}

// Kinds are all kinds, in the order in which a run meets them.
var Kinds = []Kind{
	{Name: KindRead, Next: KindSymbolise, Ways: []StageList{SnapshotStages, TraceStages}},
	{Name: KindSymbolise, Title: "Naming frames", Next: KindAnalyse, Ways: []StageList{NameStages}},
	{Name: KindAnalyse, Title: "Report", Ways: []StageList{ReportStages}},
}

// KindOf returns the kind with that name; an empty one for a name that this version does not know.
func KindOf(name string) Kind {
	if at := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name }); at >= 0 {
		return Kinds[at]
	}
	return Kind{Name: name}
}

// Has reports whether a job of this kind has a stage of that name.
func (k Kind) Has(stage string) bool {
	return slices.ContainsFunc(k.Ways, func(w StageList) bool {
		return slices.ContainsFunc(w, func(s Stage) bool { return s.Name == stage })
	})
}

// At is the percentage of the job, from 0 to 100, when done of total of a stage are done, and the name of the stage to
// show.
func (w StageList) At(stage string, done, total int64) (percent int, name string) {
	for _, s := range w {
		if s.Name == stage {
			part := int64(s.Share) * min(max(done, 0), max(total, 1)) / max(total, 1)
			return percent + int(part), stage
		}
		percent += s.Share
	}
	return 0, stage
}

// Begin is At for a stage that begins.
func (w StageList) Begin(stage string) (percent int, name string) { return w.At(stage, 0, 1) }
