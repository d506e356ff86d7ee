package run

import (
	"strings"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export"
)

// inside are the site's numbers in the window.
func (v siteView) inside() analysis.Amounts {
	a, _ := v.trace.numbersOf(v.SiteRow)
	return a
}

// measures are the numbers of a site. What ended with the process is told wherever the process ended in the trace.
func (v siteView) measures() []measure {
	if v.trace.report.Trace.ExitedNS == nil {
		return measures
	}
	return measuresWithExit
}

// sizeEach is the size of what the site allocated, with a sign where sizes differ; "" where it allocated nothing.
func (v siteView) sizeEach() string {
	l := lives(wholeNumbers(v.SiteRow))
	return averageOf(analysis.Amount{Count: l.Allocated.Count + l.AOFI.Count + l.AOFO.Count,
		Bytes: l.Allocated.Bytes + l.AOFI.Bytes + l.AOFO.Bytes})
}

// stackText is the stack as debuggers print it, to copy.
func (v siteView) stackText() string {
	var b strings.Builder
	for _, stack := range v.stacks {
		for _, f := range stack {
			b.WriteString(export.UMDHFrame(f) + "\n")
		}
	}
	return b.String()
}
