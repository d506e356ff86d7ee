package ingest

import (
	"context"
	"errors"
	"io"

	"heapdrift/ingest/appverifier"
	"heapdrift/ingest/capture"
	"heapdrift/ingest/debugdiag"
	"heapdrift/ingest/dump"
	"heapdrift/ingest/etl"
	"heapdrift/ingest/minidump"
	"heapdrift/ingest/umdh"
	"heapdrift/ingest/vmmap"
	"heapdrift/ingest/windbg"
)

// A format is a kind of evidence with its reader. Traces have none here: all of an archive are read as one.
type format struct {
	kind  Kind
	sniff func(head []byte) bool
	read  func(ctx context.Context, m Member, opt Options) ([]*capture.Capture, error)
}

// formats are tried in this order: what is told by a signature goes before what is told by words.
var formats = []format{
	{KindMinidump, dump.Sniff, readDump},
	{KindUMDH, umdh.Sniff, func(ctx context.Context, m Member, opt Options) ([]*capture.Capture, error) {
		return umdh.Read(ctx, m, umdh.Options{Base: opt.Base})
	}},
	{KindETL, etl.Sniff, nil},
	{KindAppVerifier, appverifier.Sniff, streamed(appverifier.Read)},
	{KindVMMap, vmmap.Sniff, streamed(vmmap.Read)},
	{KindDebugDiag, debugdiag.Sniff, streamed(debugdiag.Read)},
	{KindWinDbg, windbg.Sniff, streamed(windbg.Read)},
}

// formatOf finds the format of a kind.
func formatOf(kind Kind) *format {
	for i := range formats {
		if formats[i].kind == kind {
			return &formats[i]
		}
	}
	return nil
}

// streamed is the reader of a format that is read from its beginning to its end.
func streamed(read func(context.Context, io.Reader) ([]*capture.Capture, error)) func(context.Context, Member, Options) ([]*capture.Capture, error) {
	return func(ctx context.Context, m Member, _ Options) ([]*capture.Capture, error) { return read(ctx, m) }
}

// readDump reads a dump, which is read at random: one that is packed goes to a temporary file first.
func readDump(ctx context.Context, m Member, opt Options) (_ []*capture.Capture, err error) {
	from := Source{m.Name, m.w.in, m.w.src.Size}
	if m.Packed {
		temp, err := newTempFile()
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, temp.Close()) }()
		if from.Size, err = temp.fill(m); err != nil {
			return nil, err
		}
		from.ReaderAt = temp
	}
	c, err := dump.Read(ctx, from, from.Size, dump.Options{Types: opt.Types})
	if err != nil {
		return nil, err
	}
	return []*capture.Capture{c}, nil
}

// check looks closer at a file that lies as it is.
func check(ctx context.Context, m Member, kind Kind) error {
	if kind != KindMinidump {
		return nil
	}
	return dump.Check(ctx, m.w.in, m.w.src.Size)
}

// A refusal is what the reader of a format says of a file that it cannot read.
type refusal struct{ code, message string }

// refusalOf is what a reader found wrong with a file; nil for errors of reading itself, which another try may not meet.
func refusalOf(err error) *refusal {
	var log *umdh.Error
	var memory *minidump.Error
	var report *debugdiag.Error
	var session *windbg.Error
	var regions *vmmap.Error
	var stops *appverifier.Error
	r := &refusal{}
	switch {
	case errors.As(err, &log):
		r = &refusal{log.Code, log.Error()}
	case errors.As(err, &memory):
		r = &refusal{memory.Code, memory.Message}
	case errors.As(err, &report):
		r = &refusal{report.Code, report.Error()}
	case errors.As(err, &session):
		r = &refusal{session.Code, session.Error()}
	case errors.As(err, &regions):
		r = &refusal{regions.Code, regions.Error()}
	case errors.As(err, &stops):
		r = &refusal{stops.Code, stops.Error()}
	}
	if r.code == "" || r.code == minidump.CodeReadFailed {
		return nil
	}
	return r
}
