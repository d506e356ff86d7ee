package kit

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
)

// A Run is a run whose verdict may be inconclusive.
type Run struct {
	Project, Scenario, Build string
	Report                   *analysis.Report // its sites are not needed; nil where it has none
}

// The names that stand in a line for builds that only the reader knows.
const (
	someBuild    = "BUILD"
	nextBuild    = "NEXT-BUILD"
	earlierBuild = "EARLIER-BUILD"
)

// Decide returns the order of the recording that would decide an inconclusive run. ok is false where the run is
// decided, and where no recording would decide it.
func Decide(r *Run, v *leaks.RunVerdict) (o Order, ok bool) {
	open := v.Gate == leaks.GateInconclusive
	if !open && v.Next == nil {
		return o, false
	}
	if o.Build, ok = buildOf(r, v); !ok {
		return o, false
	}
	o.Project, o.Scenario = r.Project, r.Scenario
	if r.Report == nil {
		o.Evidence = UMDH
		return o, true
	}
	if name := r.Report.Process.Name; isProgram(name) {
		o.Image = name
	}
	next := v.Next
	if next == nil { // the run suffices by itself: one more of the kind
		next = &analysis.Next{Evidence: analysis.NextComplete}
	}
	if next.Evidence == analysis.NextWindow && !open {
		return o, false
	}
	o.take(r.Report, next)
	return o, true
}

// isProgram reports whether a name can be recorded: that of a program's file, which a line takes as it is.
func isProgram(name string) bool {
	return strings.HasSuffix(strings.ToLower(name), ".exe") && isPlain(name)
}

// buildOf is the build to record: that of the run, or the one to compare it with. It is false where the gate waits for
// something that no recording brings, such as symbols.
func buildOf(r *Run, v *leaks.RunVerdict) (build string, ok bool) {
	if v.Next != nil || v.Decision == nil {
		return r.Build, true
	}
	for _, reason := range v.Decision.Reasons {
		if reason.Effect != leaks.EffectDoubts {
			continue
		}
		switch reason.Code {
		case leaks.ReasonFirst:
			return nextBuild, true
		case leaks.ReasonNoBaseline, leaks.ReasonNoRelease:
			return earlierBuild, true
		case leaks.ReasonBaseline:
			if v.Compared != nil {
				return v.Compared.Base.Build, true
			}
			return earlierBuild, true
		case leaks.ReasonNoSymbols:
			continue
		}
		return r.Build, true
	}
	return "", false
}

// take fills in kind, number and time of the evidence. A recording begins anew: it takes what the run has as well.
func (o *Order) take(r *analysis.Report, next *analysis.Next) {
	have := len(r.Snapshots)
	switch {
	case next.Evidence == analysis.NextDumps:
		o.Evidence, o.Snapshots = ProcDump, have+next.Snapshots
	case next.Evidence == analysis.NextSnapshots:
		o.Evidence, o.Snapshots = UMDH, have+max(next.Snapshots, next.SnapshotsToBeCertain)
	case r.Trace != nil:
		o.Evidence, o.Every = WPR, traceLength(r, next)/decides
	case next.Evidence == analysis.NextComplete:
		o.Evidence, o.Snapshots = UMDH, max(have, decides)
	default:
		o.Evidence = UMDH
		o.longer(r, next, have)
	}
	o.Snapshots, o.Every = min(o.Snapshots, maxSnapshots), wholeUnits(o.Every)
}

// longer fills in snapshots over a longer time or more work.
func (o *Order) longer(r *analysis.Report, next *analysis.Next, have int) {
	switch o.PerWork = r.Work != nil; {
	case next.Hours > 0 && !o.PerWork:
		o.Snapshots = max(have, decides)
		o.Every = time.Duration(next.Hours * float64(time.Hour) / float64(o.Snapshots))
	case next.LengthFactor > 0:
		o.Snapshots = max(int(min(math.Ceil(float64(have)*next.LengthFactor), maxSnapshots)), decides)
	default:
		o.Snapshots = max(2*have, decides)
	}
}

// traceLength is how long a trace would decide; 0 where nothing tells.
func traceLength(r *analysis.Report, next *analysis.Next) time.Duration {
	if next.Hours > 0 {
		return time.Duration(next.Hours * float64(time.Hour))
	}
	if r.Window == nil {
		return 0
	}
	length := time.Duration(r.Window.DurationNS)
	if next.Evidence != analysis.NextComplete {
		length *= 2
	}
	return length
}

// wholeUnits rounds an interval up to seconds, or to minutes where it is longer than ten.
func wholeUnits(d time.Duration) time.Duration {
	unit := time.Second
	if d > 10*time.Minute {
		unit = time.Minute
	}
	return (d + unit - 1).Truncate(unit)
}

// Query is the order as the query of the page that makes kits.
func (o *Order) Query() url.Values {
	q := url.Values{"evidence": {o.Evidence}}
	for name, value := range map[string]string{"image": o.Image, "scenario": o.Scenario, "build": o.Build} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if o.Snapshots != 0 {
		q.Set("snapshots", strconv.Itoa(o.Snapshots))
	}
	if o.Every > 0 {
		q.Set("every", o.Every.String())
	}
	if o.PerWork {
		q.Set("per-work", "1")
	}
	return q
}

// RecordLine is the command line of heapdrift record for an order; "" where the order has no program, or a name that a
// shell would read as code.
func (o *Order) RecordLine() string {
	own := *o // check fills in what the line leaves to the defaults of record
	kind, err := own.check()
	if err != nil {
		return ""
	}
	line := "heapdrift record --image " + word(o.Image) + " --evidence " + kind.EvidenceFlag
	if o.Snapshots > 0 {
		line += " --snapshots " + strconv.Itoa(o.Snapshots)
	}
	if o.PerWork {
		line += " --per-work"
	} else if o.Every > 0 {
		line += " --every " + shortText(o.Every)
	}
	return line + " --push " + own.Server + o.target() + " --build " + o.buildWord() + " --again"
}

// KitLine is the command line of heapdrift kit that writes the scripts of an order.
func (o *Order) KitLine() string {
	return "heapdrift kit --image " + word(o.Image) + " --evidence " + o.Evidence + " --url " + o.Server + o.target()
}

// target are the flags of the project and its scenario.
func (o *Order) target() string {
	text := " --project " + word(o.Project)
	if o.Scenario != "" {
		text += " --scenario " + word(o.Scenario)
	}
	return text
}

// buildWord is the build in a line, or a word for it where a shell could read it as code.
func (o *Order) buildWord() string {
	if o.Build == "" || strings.ContainsFunc(o.Build, func(r rune) bool {
		return leaks.IsUnsafeInCommand(r) && !strings.ContainsRune("/#@:,", r)
	}) {
		return someBuild
	}
	if isPlain(o.Build) && !strings.Contains(o.Build, " ") {
		return o.Build
	}
	return `"` + o.Build + `"`
}

// isPlain reports whether a shell takes a name as it stands, or between quotes.
func isPlain(name string) bool {
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, leaks.IsUnsafeInCommand)
}

// word is a plain name in a line.
func word(name string) string {
	if strings.Contains(name, " ") {
		return `"` + name + `"`
	}
	return name
}

// shortText is an interval as flags take it, without units of which there are none.
func shortText(d time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if d%unit.length == 0 {
			return strconv.FormatInt(int64(d/unit.length), 10) + unit.name
		}
	}
	return d.String()
}
