package debugdiag

import (
	"fmt"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

func (d *draft) warn(code capture.Code, count int64, format string, args ...any) {
	d.c.Warnings = append(d.c.Warnings, capture.Warning{Code: code, Message: fmt.Sprintf(format, args...), Count: count})
}

// warnReport says of a draft what concerns the whole report.
func (r *report) warnReport(d *draft, truncated bool) {
	if truncated {
		d.warn(capture.Truncated, 1,
			"Save the whole report again: it ends early, and parts may be missing.")
		d.c.Snapshots[0].LowerBound = d.c.Shape == capture.ShapeSnapshot
	}
	if len(r.failed) > 0 {
		d.warn(capture.Truncated, int64(len(r.failed)),
			"Run the analysis again: DebugDiag did not finish it (%s).",
			strings.Join(r.failed[:min(3, len(r.failed))], "; "))
	}
	if r.cut > 0 {
		d.warn(capture.Malformed, r.cut,
			"%s of the report exceed the sizes that DebugDiag writes, and are cut.",
			quantity.Plural(r.cut, "text or table"))
	}
	if r.foreign > 0 {
		d.warn(capture.EncodingGuessed, r.foreign,
			"Save the report as UTF-8: %s in an unknown code page, whose letters outside ASCII are replaced.",
			quantity.Plural(r.foreign, "text"))
	}
	if d.malformed > 0 {
		d.warn(capture.Malformed, d.malformed, "%s not understood and not counted. The first: %s.",
			quantity.Plural(d.malformed, "figure"), d.malformedFirst)
	}
	if d.dropped > 0 {
		d.warn(capture.Malformed, d.dropped,
			"The report has too many functions, samples or frames: %d are left out.", d.dropped)
	}
}

// warnSizes says which sizes no process can have.
func (d *draft) warnSizes() {
	wrong := d.impossible()
	if len(wrong) == 0 {
		return
	}
	d.warn(capture.Inconsistent, int64(len(wrong)),
		"%s larger than the address space and shown as printed. The first: %s with %s bytes.",
		quantity.Plural(len(wrong), "size"), wrong[0].what, quantity.Count(wrong[0].at))
}
