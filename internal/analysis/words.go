package analysis

import (
	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

// Where names a site in a sentence: its blamed frame, with file and line where known.
func (s *Site) Where() string { return where(s.Blame, s.Kind) }

// Where names a finding in a sentence, as Site.Where does.
func (f *Finding) Where() string { return where(f.blamed(), f.Kind) }

// blamed is Blame, also for a finding whose names are not filled in yet.
func (f *Finding) blamed() *Blame {
	if f.from != nil {
		return f.from.frames.blamed(f.from.stack)
	}
	return f.Blame
}

func where(b *Blame, kind string) string {
	if b == nil && kind == capture.KindVirtual.String() {
		return "virtual memory without a stack"
	}
	return b.where()
}

func (b *Blame) where() string {
	if b == nil {
		return "allocations without a stack"
	}
	f := Frame{Module: b.Module, Function: b.Function, Offset: b.Offset, File: b.File, Line: b.Line}
	switch {
	case b.Module == "" && b.Function == "":
		return "outside every module"
	case b.File == "":
		return f.Name()
	}
	return f.Name() + " (" + f.FileLine() + ")"
}

func blocks(n int64) string { return quantity.Plural(n, "block") }

// hasBlame reports whether there is a frame to blame.
func (f *Finding) hasBlame() bool { return f.Blame != nil || f.from != nil && f.from.blamed }
