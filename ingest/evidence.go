package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
)

// A skippedFile is a file of an archive that is no evidence.
type skippedFile struct {
	name    string
	why     *evidence.Error
	symbols bool // it is a PDB or an image
}

// eachEvidence visits every piece of evidence in a source. In an archive of several files those that are no evidence
// are passed over and returned; at least one must be evidence.
func eachEvidence(ctx context.Context, src Source, progress func(done, total int64),
	visit func(Member, *format) error) (left []skippedFile, err error) {
	found := 0
	w := walker{progress: progress}
	var symbols bool // of the member that was visited last
	w.visit = func(m Member) error {
		symbols = isSymbols(m.Head)
		f, err := recognise(m.Name, m.Head)
		if err != nil {
			return err
		}
		w.free = max(w.free, f.RatioExempt)
		if err := visit(m, f); err != nil {
			return readError(m.Name, err)
		}
		found++
		return nil
	}
	w.pass = func(name string, e *evidence.Error) bool {
		if !isNoEvidence(e.Code) {
			return false
		}
		left = append(left, skippedFile{name, e, symbols})
		symbols = false // the next may not even be opened
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

func noEvidence(archive string, last *evidence.Error) *evidence.Error {
	e := &evidence.Error{Code: evidence.CodeNoEvidence, File: archive,
		Message: "the archive holds no evidence that this version reads"}
	if last != nil {
		e.Err = last
	}
	return e
}

// isNoEvidence reports whether a code says that a file is something else, rather than that it is harmful or damaged.
func isNoEvidence(code string) bool {
	switch code {
	case evidence.CodeEmptyFile, evidence.CodeUnknownFormat, evidence.CodeUnsupportedFormat, evidence.CodeKernelDump,
		evidence.CodeNotTrace, evidence.CodeNoHeapMemory, evidence.CodeOtherSystem:
		return true
	}
	return false
}

// isOfArchive reports whether a code says that an archive cannot be unpacked any further, so that no file of it can be
// read.
func isOfArchive(code string) bool {
	return code == evidence.CodeArchiveBomb || code == evidence.CodeDamagedArchive
}

// leftOutOf warns of the files of an archive that are not evidence.
func leftOutOf(archive string, left []skippedFile) []capture.Warning {
	if len(left) == 0 {
		return nil
	}
	files, are := "1 file", "is"
	if len(left) > 1 {
		files, are = fmt.Sprintf("%d files", len(left)), "are"
	}
	return []capture.Warning{{Code: capture.Unsupported, Count: int64(len(left)),
		Message: fmt.Sprintf("%s of %s %s not evidence and left out: %s", files, archive, are, shortList(left))}}
}

// leftBeside warns of files beside traces in an archive that a user may miss. Tools pack their own logs and
// descriptions with a trace, and no user expects those in a report.
func leftBeside(archive string, left []skippedFile) (list []capture.Warning) {
	var symbols, missed []skippedFile
	for _, l := range left {
		switch {
		case l.symbols:
			symbols = append(symbols, l)
		case l.why.Code != evidence.CodeUnknownFormat && (l.why.Code != evidence.CodeEmptyFile || promised(l.name) != nil):
			missed = append(missed, l)
		}
	}
	if n := len(symbols); n > 0 {
		list = append(list, capture.Warning{Code: capture.Unsupported, Count: int64(n),
			Message: fmt.Sprintf("Upload the archive as symbols too (heapdrift symbols add, or PUT /api/v1/symbols): %s has %d PDBs or images, which are not read from evidence.", archive, n)})
	}
	return append(list, leftOutOf(archive, missed)...)
}

// shortList names the first few.
func shortList(files []skippedFile) string {
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

// readError gives errors of a format's reader the file's name; the context's pass as they are.
func readError(name string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if refused := evidence.Refusal(err); refused != nil {
		refused.File = cmp.Or(refused.File, name)
		return refused
	}
	return fmt.Errorf("ingest: read %s: %w", name, err)
}
