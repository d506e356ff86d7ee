// Package debugdiag reads the analysis reports of DebugDiag, the Debug Diagnostic Tool of Windows. They list, by module
// and function, what LeakTrack.dll saw a process allocate and not free, and describe its heaps and its address space.
// There is no specification; the hooks below are those of DebugDiag 2.x.
//
// A report is a MIME document whose first text/html part is the page, or that page saved from a browser:
//
//	MIME-Version: 1.0
//	Content-Type: multipart/related; boundary="__ANALYZER_REPORT_BOUNDARY__"; type="text/html"
//	…
//	div #errorsAnalysisSummarySection | #warnings… | #informations… | #notifications…
//	  tr data-is-row data-debug-dump data-debug-rule     two cells: Description, Recommendation
//	div data-debug-details="dump" data-debug-dump=NAME id=UID
//	  div data-debug-details="custom" id=SECTION+UID     SECTION is VMSummary, HeapDetails, AllocSummary, ModReportMem, …
//	    tr td LABEL td VALUE                             facts
//	    table of three tables side by side               a bar graph: captions, values, bars
//	div .analysisRuleSummarySection                      Rule Name, Status, Details
//
// Sections are known by the beginning of their ids, and by their titles where these are missing. Reports of DebugDiag
// 1.x have none of the hooks; their facts and tables are found by label, and the capture says so.
//
// Counts are exact. Sizes are rounded to two decimals of their unit: a Claim keeps by how much that may be wrong.
package debugdiag

import (
	"context"
	"io"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
)

// Kind is that of captures of reports of DebugDiag.
const Kind capture.Kind = "debugdiag-report"

// Read reads a report: one capture for each dump that it is about, in its order. A dump of whose allocations it tells
// gives a snapshot, any other one facts. It holds one buffer of the report and what the captures hold.
//
// Damage gives warnings, not an error. The error is an *evidence.Error if r is no report of DebugDiag or r fails, and
// the context's if ctx ends. What was read until then is returned beside it.
func Read(ctx context.Context, r io.Reader) ([]*capture.Capture, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	src := &source{ctx: ctx, r: r}
	report := newReport()
	html, err := unwrap(src)
	if err == nil {
		report.page.read(html)
	}
	switch {
	case src.err != nil && ctx.Err() != nil:
		return report.finish(), context.Cause(ctx)
	case src.err != nil:
		return report.finish(),
			&evidence.Error{Code: CodeReadFailed, Message: "reading the report failed", Offset: src.offset, Err: src.err}
	case err != nil:
		return nil, err
	}
	captures := report.finish()
	if len(captures) == 0 {
		return nil, &evidence.Error{Code: CodeNoData, Message: "nothing that DebugDiag reports was found",
			Do: "upload the .mht file that its analysis wrote", Offset: src.offset}
	}
	return captures, nil
}
