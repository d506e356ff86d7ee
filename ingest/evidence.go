package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/etl"
)

// A leftOut is a file of an archive that is no evidence.
type leftOut struct {
	name string
	why  *Error
}

// evidence visits every piece of evidence in a source. In an archive of several files those that are no evidence are
// passed over and returned; at least one must be evidence.
func evidence(ctx context.Context, src Source, progress func(done, total int64), visit func(Member, Kind) error) (left []leftOut, err error) {
	found := 0
	w := walker{progress: progress}
	w.visit = func(m Member) error {
		kind, refusal := recognise(m.Name, m.Head)
		if refusal != nil {
			return refusal
		}
		w.free = max(w.free, freeOf[kind])
		if err := visit(m, kind); err != nil {
			return readError(m.Name, err)
		}
		found++
		return nil
	}
	w.pass = func(name string, e *Error) bool {
		if !isNoEvidence(e.Code) {
			return false
		}
		left = append(left, leftOut{name, e})
		return true
	}
	switch err := w.walk(ctx, src); {
	case err != nil:
		return left, err
	case found > 0:
		return left, nil
	case len(left) == 0:
		return nil, noEvidence(src.Name, nil)
	case w.entries == 1:
		return left, left[0].why
	}
	return left, noEvidence(src.Name, left[len(left)-1].why)
}

func noEvidence(archive string, last *Error) *Error {
	e := &Error{Code: CodeNoEvidence, File: archive, Message: "the archive holds no evidence that this version reads"}
	if last != nil {
		e.Err = last
	}
	return e
}

// isNoEvidence reports whether a code says that a file is something else, rather than that it is harmful or damaged.
func isNoEvidence(code string) bool {
	switch code {
	case CodeEmpty, CodeUnknown, CodeUnsupported, CodeKernelDump, CodeNotTrace, CodeNoHeap, CodeOtherSystem:
		return true
	}
	return false
}

// leftOutOf says that files of an archive of logs are no evidence.
func leftOutOf(archive string, left []leftOut) []capture.Warning {
	if len(left) == 0 {
		return nil
	}
	return []capture.Warning{{Code: capture.Unsupported, Count: int64(len(left)),
		Message: fmt.Sprintf("%d files of %s are no evidence and are left out: %s", len(left), archive, shortList(left))}}
}

// leftBeside says what lies beside traces in an archive, as far as somebody may miss it: tools pack their own logs and
// descriptions with a trace, and nobody expects those in a report.
func leftBeside(archive string, left []leftOut) (list []capture.Warning) {
	var symbols, missed []leftOut
	for _, l := range left {
		switch {
		case l.why.symbols:
			symbols = append(symbols, l)
		case l.why.Code != CodeUnknown && (l.why.Code != CodeEmpty || isNamedTrace(l.name)):
			missed = append(missed, l)
		}
	}
	if n := len(symbols); n > 0 {
		list = append(list, capture.Warning{Code: capture.Unsupported, Count: int64(n),
			Message: fmt.Sprintf("%s brings symbols of its own, which are not taken from there: %d PDBs or images; upload the archive as symbols too: heapdrift symbols add, or PUT /api/v1/symbols", archive, n)})
	}
	return append(list, leftOutOf(archive, missed)...)
}

// shortList names the first few.
func shortList(files []leftOut) string {
	var names []string
	for _, f := range files {
		if len(names) == 5 {
			names = append(names, "…")
			break
		}
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// readError gives errors of a format reader the file's name; those that already say it, and the context's, pass.
func readError(name string, err error) error {
	var ours *Error
	var trace *etl.Error
	switch refused := refusalOf(err); {
	case err == nil || errors.As(err, &ours) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case refused != nil:
		return &Error{Code: refused.code, File: name, Message: refused.message}
	case errors.As(err, &trace) && trace.Code != etl.CodeReadFailed:
		e := &Error{Code: trace.Code, File: cmp.Or(trace.File, name), Message: trace.Message, Err: trace.Err}
		if trace.Offset > 0 {
			e.Message += fmt.Sprintf(" (offset %#x)", trace.Offset)
		}
		return e
	}
	return fmt.Errorf("ingest: read %s: %w", name, err)
}
