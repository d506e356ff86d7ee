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
	"heapdrift/ingest/etl/tracecapture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/exitlog"
	"heapdrift/ingest/hdsnap"
	"heapdrift/ingest/heapprofile"
	"heapdrift/ingest/leakdiag"
	"heapdrift/ingest/umdh"
	"heapdrift/ingest/vmmap"
	"heapdrift/ingest/windbg"
)

// A format is one row of the table: the facts about a format, and its reader. Nothing outside of the row and the
// reader's package names a format; docs/adding-a-format.md says how a row comes in.
type format struct {
	evidence.Format
	// read makes captures of one file. Formats whose files are read Together have none: those of an archive are one trace.
	read func(ctx context.Context, m Member, opt Options) ([]*capture.Capture, error)
	// check looks closer, at the door, at a file that is not packed; nil where the first bytes say enough.
	check func(ctx context.Context, r io.ReaderAt, size int64) error
	// lacks says why a file with an extension of the format is not of it; nil where others use the extension too.
	lacks func(head []byte) *evidence.Error
}

// formats are tried in this order: what is told by a signature goes before what is told by words.
var formats = []format{
	{
		Format: evidence.Format{
			Kind: "minidump", Name: "a dump", Plural: "full dumps", Extensions: []string{".dmp"},
			Tools:        "procdump -ma, DebugDiag, Task Manager",
			CaptureKinds: kinds(dump.Kind), Column: "Full dump", Rank: 4, Searches: true, ArchivePriority: 1, Random: true, RatioExempt: 4 << 30, // dumps are mostly zeros
			Sniff: dump.Sniff,
		},
		read: readDump, check: dump.Check,
	},
	{
		Format: evidence.Format{
			Kind: "hdsnap", Name: "a heap snapshot", Plural: "heap snapshots", Extensions: []string{".hdsnap"},
			Tools: "heapdrift snapshot, heapdrift record", CaptureKinds: kinds(hdsnap.Kind), Rank: 4, Sniff: hdsnap.Sniff,
		},
		read: streamed(hdsnap.Read),
	},
	{
		Format: evidence.Format{
			Kind: "umdh", Name: "a UMDH log", Plural: "UMDH logs and differences", Tools: "umdh.exe",
			CaptureKinds: kinds(umdh.KindSnapshot, umdh.KindDifference), Column: "UMDH snapshots", Sniff: umdh.Sniff,
		},
		read: func(ctx context.Context, m Member, opt Options) ([]*capture.Capture, error) {
			return umdh.Read(ctx, m, umdh.Options{Base: opt.Base})
		},
	},
	{
		Format: evidence.Format{
			Kind: "heap-profile", Name: "a heap profile", Plural: "heap profiles", Extensions: []string{".heap"},
			Tools:        "jemalloc, gperftools, tcmalloc, mimalloc",
			CaptureKinds: kinds(heapprofile.KindJemalloc, heapprofile.KindGperftools, heapprofile.KindPprof),
			Sniff:        heapprofile.Sniff,
		},
		read: func(ctx context.Context, m Member, _ Options) ([]*capture.Capture, error) {
			return heapprofile.Read(ctx, m, m.Name)
		},
	},
	{
		Format: evidence.Format{
			Kind: "etl", Name: "a trace", Plural: "ETW traces", Extensions: []string{".etl"},
			Tools:        "xperf, wpr, PerfView, Visual Studio",
			CaptureKinds: kinds(tracecapture.Kind), Column: "Trace", ArchivePriority: 2, Together: true, Random: true, RatioExempt: 1 << 30, // idle buffers are filled with 0xFF
			Sniff: etl.Sniff,
		},
		lacks: etl.Lacks,
	},
	{
		Format: evidence.Format{
			Kind: "appverifier-log", Name: "a log of Application Verifier", Plural: "logs of Application Verifier",
			Extensions: []string{".xml"},
			Tools:      "appverif -export log", CaptureKinds: kinds(appverifier.Kind), Sniff: appverifier.Sniff,
		},
		read: streamed(appverifier.Read),
	},
	{
		Format: evidence.Format{
			Kind: "vmmap", Name: "a file of VMMap", Plural: "files of VMMap", Extensions: []string{".mmp"},
			Tools: "VMMap, File, Save As", CaptureKinds: kinds(vmmap.Kind), Rank: 3, Sniff: vmmap.Sniff,
		},
		read: streamed(vmmap.Read),
	},
	{
		Format: evidence.Format{
			Kind: "leakdiag", Name: "a log of LeakDiag", Plural: "logs of LeakDiag", Extensions: []string{".xml"},
			Tools: "LeakDiag, Log", CaptureKinds: kinds(leakdiag.Kind), Sniff: leakdiag.Sniff,
		},
		read: streamed(leakdiag.Read),
	},
	{
		Format: evidence.Format{
			Kind: "debugdiag-report", Name: "a report of DebugDiag", Plural: "reports of DebugDiag",
			Extensions: []string{".mht", ".html"},
			Tools:      "DebugDiag Analysis", CaptureKinds: kinds(debugdiag.Kind), Rank: 2, Sniff: debugdiag.Sniff,
		},
		read: streamed(debugdiag.Read),
	},
	{
		Format: evidence.Format{
			Kind: "windbg-log", Name: "a log of WinDbg", Plural: "logs of WinDbg", Tools: "WinDbg and cdb, .logopen",
			CaptureKinds: kinds(windbg.Kind), Rank: 1, // somebody pasted it, and it may be of any process
			Searches: true, // !heap -l
			Sniff:    windbg.Sniff,
		},
		read: streamed(windbg.Read),
	},
	{
		Format: evidence.Format{
			Kind: "exit-log", Name: "a log with leaks at exit", Plural: "logs with leaks at exit",
			Tools: "the debug CRT, Visual Leak Detector, Dr. Memory, AddressSanitizer, FastMM, heob, Valgrind, HEAPCHECK, Intel Inspector; CI jobs",
			CaptureKinds: kinds(exitlog.KindCRT, exitlog.KindVLD, exitlog.KindDrMemory, exitlog.KindSanitizer,
				exitlog.KindFastMM, exitlog.KindHeob, exitlog.KindMemcheck, exitlog.KindHeapCheck, exitlog.KindInspector),
			Anywhere: true, ArchivePriority: -1, // any long text may be one
			Sniff: exitlog.Sniff,
		},
		read: streamed(exitlog.Read), check: exitlog.Check,
	},
	{
		Format: evidence.Format{
			Kind: "mimalloc-stats", Name: "statistics of mimalloc", Plural: "statistics of mimalloc",
			Tools:        "MIMALLOC_SHOW_STATS=1, mi_stats_print",
			CaptureKinds: kinds(heapprofile.KindMimallocStats), Anywhere: true, Sniff: heapprofile.SniffStats,
		},
		read: streamed(heapprofile.ReadStats),
	},
}

// Formats are the facts of all formats that are read, in the order in which a file is tried for them.
func Formats() evidence.Formats {
	list := make(evidence.Formats, len(formats))
	for i := range formats {
		list[i] = formats[i].Format
	}
	return list
}

// sniffed is the format of a file that begins with head; nil where none is known.
func sniffed(head []byte) *format {
	if f := formatOf(func(f *format) bool { return !f.Anywhere && f.Sniff(head) }); f != nil {
		return f
	}
	return formatOf(func(f *format) bool { return f.Anywhere && f.Sniff(head) })
}

// promised is the format that a file's name promises; nil where the name promises nothing.
func promised(name string) *format {
	return formatOf(func(f *format) bool { return f.lacks != nil && f.HasExtension(name) })
}

func formatOf(is func(*format) bool) *format {
	for i := range formats {
		if is(&formats[i]) {
			return &formats[i]
		}
	}
	return nil
}

func kinds(list ...capture.Kind) (names []string) {
	for _, k := range list {
		names = append(names, string(k))
	}
	return names
}

// streamed is the reader of a format that is read from its beginning to its end.
func streamed(read func(context.Context, io.Reader) ([]*capture.Capture,
	error)) func(context.Context, Member, Options) ([]*capture.Capture, error) {
	return func(ctx context.Context, m Member, _ Options) ([]*capture.Capture, error) { return read(ctx, m) }
}

// readDump reads a dump, which is read at random: one that is packed goes to a temporary file first.
func readDump(ctx context.Context, m Member, opt Options) (_ []*capture.Capture, err error) {
	from := Source{m.Name, m.w.in, m.w.src.Size}
	if m.Packed {
		temp, size, err := unpack(m)
		if temp != nil {
			defer func() { err = errors.Join(err, temp.Close()) }()
		}
		if err != nil {
			return nil, err
		}
		from.ReaderAt, from.Size = temp, size
	}
	c, err := dump.Read(ctx, from, from.Size, dump.Options{Types: opt.Types})
	if err != nil {
		return nil, err
	}
	return []*capture.Capture{c}, nil
}
