package dump

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/minidump"
	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/quantity"
	"heapdrift/ingest/sorting"
)

// Kind is that of captures of dumps.
const Kind capture.Kind = "minidump"

// Options tune reading.
type Options struct {
	// Types finds the structures of an ntdll by its PDB; nil, or a nil result, for the embedded table.
	Types func(ctx context.Context, pdb, debugID string) ntheap.Types
	// Subject is what Build makes a capture of, a dump or a process. Read sets it itself.
	Subject Subject
	// BlocksOnly leaves out what needs the contents of blocks: the search for pointers, and groups by what blocks begin
	// with or point to. A suspended process then waits only for the walk of its heaps.
	BlocksOnly bool
	// Reached is called at each Stage; nil is nothing.
	Reached func(Stage)
}

// A Stage is how far the reading is. Who suspended the process learns from it when the process may go on.
type Stage uint8

// The stages. What is read after the last of them changes neither blocks nor stacks.
const (
	HeapsWalked Stage = iota // not called where the heaps could not be walked
	StacksRead               // called also where reading has failed
)

// A Subject is what a capture is made of.
type Subject struct {
	Kind capture.Kind
	Name string // in sentences, and as the source of facts: "dump"
}

// typesOf asks for the structures of the ntdll that made the heaps of one side.
func (o *Options) typesOf(ctx context.Context, p *process, bits int) ntheap.Types {
	if o.Types == nil {
		return nil
	}
	for _, m := range p.modules {
		if strings.EqualFold(fileName(m.Path), "ntdll.dll") && m.DebugID != "" && (!p.wow64 || isWOW(&m) == (bits == 32)) {
			return o.Types(ctx, fileName(m.PDB), m.DebugID)
		}
	}
	return nil
}

// isWOW tells the 32-bit of the two system libraries of a name that a 32-bit process on 64-bit Windows has. Where they
// lie does not: Windows 7 loads both below 4 GB.
func isWOW(m *minidump.Module) bool {
	folder, _ := strings.CutSuffix(strings.ToLower(m.Path), strings.ToLower(fileName(m.Path)))
	return strings.HasSuffix(folder, `\syswow64\`) || strings.HasPrefix(strings.ToLower(fileName(m.PDB)), "wntdll")
}

// Sniff reports whether a file begins as a minidump, be it damaged: Read says better what is wrong then.
func Sniff(head []byte) bool { return bytes.HasPrefix(head, []byte("MDMP")) }

// Read makes the capture of the process that a dump is of. Its error is an *evidence.Error where the file is no dump
// that tells about heaps, else the context's or that of reading. What cannot be read of a dump that does tell is said
// in the capture.
func Read(ctx context.Context, r io.ReaderAt, size int64, opt Options) (*capture.Capture, error) {
	d, err := minidump.Open(ctx, r, size)
	if err != nil {
		return nil, err
	}
	p, err := openProcess(ctx, dumpFile{d})
	if err != nil {
		return nil, err
	}
	if refused := d.WithoutHeap(); refused != nil {
		refused.Message += p.inventory()
		return nil, refused
	}
	opt.Subject = Subject{Kind, "dump"}
	return p.build(ctx, &opt)
}

// Build makes the capture of the process that a source is of, as Read does of a dump. Its errors are those of Read.
func Build(ctx context.Context, s Source, opt Options) (*capture.Capture, error) {
	p, err := openProcess(ctx, s)
	if err != nil {
		return nil, err
	}
	return p.build(ctx, &opt)
}

func (p *process) build(ctx context.Context, opt *Options) (*capture.Capture, error) {
	b := &builder{process: p, opt: opt, c: p.capture(opt.Subject)}
	if err := b.build(ctx); err != nil {
		return nil, err
	}
	return b.c, nil
}

// Check reports with nil that Read can make a capture of the file, by its header, its directory and its lists. Its
// error is that of Read.
func Check(ctx context.Context, r io.ReaderAt, size int64) error {
	d, err := minidump.Open(ctx, r, size)
	if err != nil {
		return err
	}
	refused := d.WithoutHeap()
	if refused == nil {
		return nil
	}
	p, err := openProcess(ctx, dumpFile{d})
	if err != nil {
		return err
	}
	refused.Message += p.inventory()
	return refused
}

// inventory says what a dump that is refused does hold.
func (p *process) inventory() string {
	s := fmt.Sprintf("; it holds %d modules and %d threads", len(p.modules), len(p.threads))
	if len(p.regions) == 0 {
		return s
	}
	var committed, private uint64
	for _, r := range p.regions {
		if r.State == minidump.MemCommit {
			committed += r.Size
			if r.Type == minidump.MemPrivate {
				private += r.Size
			}
		}
	}
	return s + fmt.Sprintf(", and lists %d regions of the address space: %s are committed, %s of it private",
		len(p.regions), quantity.Bytes(int64(committed)), quantity.Bytes(int64(private)))
}

// capture is what the lists of the source say of the process.
func (p *process) capture(of Subject) *capture.Capture {
	info, err := p.source.Process()
	p.failed("the process id", err)
	c := &capture.Capture{
		Kind: of.Kind, Shape: capture.ShapeSnapshot,
		Process:   capture.Process{PID: info.PID, Bits: uint8(p.bits())},
		Snapshots: []capture.Snapshot{{TakenAt: localTime(p.source.Taken(), info.Bias)}},
		Memory:    &capture.Memory{Source: of.Name},
	}
	image, line := p.command()
	if image == "" && len(p.modules) > 0 {
		image = p.modules[0].Path
	}
	c.Process.Name = fileName(image)
	for _, m := range p.modules {
		c.Modules = append(c.Modules, capture.Module{Path: m.Path, Base: m.Base, Size: m.Size, PDB: fileName(m.PDB),
			DebugID: m.DebugID, Symbols: capture.SymbolsNone})
	}
	for _, m := range p.unloaded {
		c.Memory.Unloaded = append(c.Memory.Unloaded,
			capture.UnloadedModule{Name: fileName(m.Name), Base: capture.Address(m.Base), Size: m.Size})
	}
	c.Memory.Notes = p.notes(line)
	c.Memory.Handles = p.handleTypes()
	return c
}

// localTime is the machine's own wall clock, as that of other evidence.
func localTime(taken time.Time, bias time.Duration) time.Time {
	if taken.IsZero() {
		return taken
	}
	return taken.Add(-bias)
}

// notes are what the source says in words, and what must be said of it.
func (p *process) notes(commandLine string) []capture.Note {
	var list []capture.Note
	for _, text := range p.source.Comments() {
		list = append(list, capture.Note{Topic: capture.TopicComment, Text: text})
	}
	system := fmt.Sprintf("Windows %d.%d.%d", p.system.Major, p.system.Minor, p.system.Build)
	for _, more := range []string{p.system.ServicePack, p.system.Product.String(), p.system.Arch.String()} {
		if more != "" {
			system += ", " + more
		}
	}
	if p.wow64 {
		system += ", the process is 32-bit"
	}
	list = append(list, capture.Note{Topic: capture.TopicProcess, Text: system})
	if commandLine != "" {
		list = append(list, capture.Note{Topic: capture.TopicProcess, Text: "command line: " + commandLine})
	}
	for _, m := range p.modules {
		if strings.EqualFold(fileName(m.Path), "LeakTrack.dll") {
			list = append(list, capture.Note{Topic: capture.TopicLeakTrack,
				Text: strings.TrimSpace("LeakTrack.dll "+m.FileVersion) +
					" is loaded; the layout of its tables is not public, so they are not read: what follows is what the heaps themselves tell",
				Advice: "add DebugDiag's own report on this dump (.mht) to the run, which has LeakTrack's stacks"})
		}
	}
	return list
}

// handleTypes counts the handles by type.
func (p *process) handleTypes() []capture.HandleType {
	types := map[string]*capture.HandleType{}
	p.failed("the handles", p.source.EachHandle(func(h minidump.Handle) bool {
		name := cmp.Or(h.Type, "unknown")
		t := types[name]
		if t == nil {
			t = &capture.HandleType{Type: name}
			types[name] = t
		}
		t.Count++
		if h.Name != "" {
			t.Named++
		}
		return true
	}))
	list := make([]capture.HandleType, 0, len(types))
	for _, t := range types {
		list = append(list, *t)
	}
	sorting.Stable(list, func(a, b capture.HandleType) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Type, b.Type))
	})
	return list
}
