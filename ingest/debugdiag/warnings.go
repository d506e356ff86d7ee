package debugdiag

import (
	"fmt"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/figures"
)

func (d *draft) warn(code capture.Code, count int64, format string, args ...any) {
	d.c.Warnings = append(d.c.Warnings, capture.Warning{Code: code, Message: fmt.Sprintf(format, args...), Count: count})
}

// warnReport says of a draft what concerns the whole report.
func (r *report) warnReport(d *draft, truncated bool) {
	if truncated {
		d.warn(capture.Truncated, 1,
			"the report ends early: what is there was read, and more may have followed; save it again as a whole")
		d.c.Snapshots[0].LowerBound = d.c.Shape == capture.ShapeSnapshot
	}
	if len(r.failed) > 0 {
		d.warn(capture.Truncated, int64(len(r.failed)),
			"DebugDiag says that its analysis did not run to its end (%s); run it again",
			strings.Join(r.failed[:min(3, len(r.failed))], "; "))
	}
	if r.cut > 0 {
		d.warn(capture.Malformed, r.cut,
			"%s of the report were larger than any that DebugDiag writes, and are not told in full",
			figures.Plural(r.cut, "text or table"))
	}
	if r.foreign > 0 {
		d.warn(capture.EncodingGuessed, r.foreign,
			"%s in an unknown code page: letters outside ASCII are replaced; save the report as UTF-8",
			figures.Plural(r.foreign, "text"))
	}
	if d.malformed > 0 {
		d.warn(capture.Malformed, d.malformed, "%s not understood, and not in the numbers; the first is %s",
			figures.Plural(d.malformed, "figure"), d.malformedFirst)
	}
	if d.dropped > 0 {
		d.warn(capture.Malformed, d.dropped,
			"the report has more functions, samples or frames than are read: %d were left out", d.dropped)
	}
}

// warnSizes says which sizes no process can have.
func (d *draft) warnSizes() {
	wrong := d.impossible()
	if len(wrong) == 0 {
		return
	}
	d.warn(capture.Inconsistent, int64(len(wrong)),
		"%s larger than the address space, the first that of %s with %s bytes; they are told as they are printed",
		figures.Plural(len(wrong), "size"), wrong[0].what, figures.Count(wrong[0].at))
}
