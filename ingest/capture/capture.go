// Package capture holds the one model that every reader of evidence produces and that everything after the
// readers works on: what a process held, from whom, and, for a trace, when.
//
// A reader fills a Capture; nothing behind it knows a file format. Captures are kept on disk as artifacts
// (Write, Read), so no later step reads evidence again.
package capture

import (
	"strings"
	"time"
)

// A Kind names the kind of evidence a capture was read from, as reports print it. Each reader names its own.
type Kind string

// A Shape says what the numbers of a capture mean. Analysis goes by the shape, never by the Kind.
type Shape uint8

const (
	// ShapeSnapshot is everything outstanding at one instant: one Snapshot.
	ShapeSnapshot Shape = iota
	// ShapeDifference is an old and a new instant, of which the evidence lists only the stacks that
	// changed: two Snapshots, and no statement about stacks that are absent.
	ShapeDifference
	// ShapeTrace is allocations and their ends over time. Snapshots are instants that divide the window evenly, at which
	// Usage was sampled; the numbers of a site are in its Life.
	ShapeTrace
	// ShapeFacts is what Memory says of one instant, and no statement about sites: it has none, and one Snapshot.
	ShapeFacts
	// ShapeExit is the blocks that a process, or a test in it, had not freed when it ended, by a tool that looked then:
	// one Snapshot. The blocks were never freed; whether they would have become more is unknown.
	ShapeExit
)

// A Capture is what one process held at the instants the evidence covers.
type Capture struct {
	Kind      Kind
	Shape     Shape
	Process   Process
	Snapshots []Snapshot // oldest first
	Modules   []Module   // loaded ones and Former ones
	Heaps     []Heap     // those that sites name by index
	Stacks    Stacks     // the stacks that Site.Stack names
	Sites     []Site
	Trace     *Trace  // of ShapeTrace, else nil
	Blocks    Blocks  // of the only snapshot; empty where the evidence has no addresses
	Memory    *Memory // nil where the evidence tells of sites only
	Work      *Work   // done up to the only snapshot; nil where the evidence does not say
	// Sampling is how many bytes the process allocated from one recorded allocation to the next, on average, where the
	// evidence is a sample and the usage of sites is estimated from it; 0 where all blocks were recorded.
	Sampling int64
	Warnings []Warning
	// Lines are, of ShapeExit without call stacks, what is known of each site: a line of source that allocated, or blocks that
	// look alike. The stack of such a site is one frame with a name that the reader made. Nil of evidence with call stacks.
	Lines []Line
	Test  string // of ShapeExit: the test that was running when the tool printed the list; "" where none was
	// Ran are the names of the tests that passed in the log. It is filled on one capture of a log whose tool prints
	// nothing for a test that left nothing.
	Ran []string
	// Printed is how many lists of ShapeExit the capture sums; 0 where that is not known.
	Printed int64
}

// Work is what the process had done since it was started.
type Work struct {
	Count float64 // in Units since the start
	Unit  string  // singular: "document"; "" where nobody says
}

// A Process identifies whose memory it is. Zero fields are unknown.
type Process struct {
	Name    string // image name with extension, "app.exe"
	PID     uint32
	Bits    uint8  // 32 or 64
	Machine string // name of the computer
}

// A Snapshot is one instant. TakenAt is the traced machine's own wall clock in an unknown zone, kept as if it
// were UTC; it is zero where the evidence does not say.
type Snapshot struct {
	TakenAt time.Time // local time of the traced machine, marked as UTC; zero where unknown
	// LowerBound says that the evidence ends early: its list is right, but not complete.
	LowerBound bool
}

// WallClock prints the local time of the traced machine, which has no zone; "" where it is not known.
func (s *Snapshot) WallClock() string {
	if s.TakenAt.IsZero() {
		return ""
	}
	return s.TakenAt.Format("2006-01-02T15:04:05")
}

// A SymbolKind says where the names of a module's frames come from. The set is open: a reader may pass on what
// the evidence says in other words.
type SymbolKind string

// The kinds of symbols that reports know.
const (
	SymbolsNone    SymbolKind = "none"    // addresses only
	SymbolsPrivate SymbolKind = "private" // PDB with lines
	SymbolsPublic  SymbolKind = "public"  // PDB without lines
	SymbolsExport  SymbolKind = "export"  // nearest export: unreliable far from its start
	SymbolsText    SymbolKind = "text"    // names came with the evidence, their source unknown
	// SymbolsMismatch says that symbols of that name are there, and none of them belongs to the module. Reports show
	// such a module as one without symbols.
	SymbolsMismatch SymbolKind = "mismatch"
)

// A Module is an image loaded in the process.
type Module struct {
	Path    string // as the evidence spells it; may be a bare name
	Base    uint64 // 0 where only the name is known
	Size    uint64 // SizeOfImage in bytes
	PDB     string // file name of its PDB, "" if unknown
	DebugID string // GUID as 32 upper-case hex digits and the age in hex, "" if unknown
	Symbols SymbolKind
	// Former says that another module of the list has the addresses: the process unloaded this one, or loaded it in the
	// place of the other. Frames in it name it.
	Former bool
}

// FileName is the module's name with extension, "ntdll.dll".
func (m Module) FileName() string { return m.Path[strings.LastIndexAny(m.Path, `\/`)+1:] }

// Name is the module's name as debuggers print it before the "!", "ntdll".
func (m Module) Name() string {
	name := m.FileName()
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		return name[:dot]
	}
	return name
}

// A Heap is one heap of the process.
type Heap struct {
	Handle uint64 // its address, as HeapCreate returned it
	// Partial says that the evidence ends inside this heap's data.
	Partial  bool
	Timeline Timeline // outstanding memory over time; empty for snapshots
}

// NoHeap is the heap index of a site whose evidence does not name the heap.
const NoHeap = int32(-1)

// A SiteKind is the way in which memory was allocated.
type SiteKind uint8

// Heap memory comes from HeapAlloc and its kin, virtual memory from VirtualAlloc.
const (
	KindHeap SiteKind = iota
	KindVirtual
	// KindHeapVirtual is what a heap took from VirtualAlloc to serve its blocks: the bytes of KindHeap, seen from below.
	// It is in no total.
	KindHeapVirtual
)

// String is the name of the kind in reports: "heap", "virtual".
func (k SiteKind) String() string {
	return [...]string{"heap", "virtual", "heap-virtual"}[min(k, KindHeapVirtual)]
}

// A Site is memory of one kind that one stack allocated from one heap. Readers give one site per identity that
// the evidence has (a UMDH BackTrace id in a heap); analysis merges the sites whose stacks are equal.
type Site struct {
	Stack StackID // NoStack where the evidence has none
	// AliasStacks are further stacks the evidence offers for the same allocations: any of them, or Stack, made each.
	AliasStacks []StackID
	Heap        int32 // index into Capture.Heaps, or NoHeap
	Kind        SiteKind
	Trace       uint64 // the evidence's own id of the stack, valid inside one process life; 0 for none
	// Unreachable says that a search found no pointer to the site's blocks. The blocks of the same stack to which it
	// found one are another site.
	Unreachable bool
	Reach       Reach   // of ShapeExit: what the tool found to point to its blocks
	Usage       []Usage // one per Snapshot
	Life        *Life   // of ShapeTrace, else nil
}

// A Reach is what a tool found to point to blocks that were left when a process ended.
type Reach uint8

// What may point to blocks that were left.
const (
	ReachUnsearched Reach = iota // the tool looked for no pointers
	ReachNone                    // nothing points to them
	ReachLost                    // only blocks to which nothing points
	ReachPossible                // something points into them, and nothing to their start
	ReachHeld                    // the program could still have freed them
)

// A Line is what evidence without call stacks tells of a site.
type Line struct {
	// SameBlocks are the stacks that another list of the same process has for some of the blocks.
	SameBlocks []StackID
	// BeforeTests are the blocks that were there before the first test of the process ran.
	BeforeTests Usage
}

// ReachCount is how many values Reach has.
const ReachCount = int(ReachHeld) + 1

// Usage counts outstanding blocks. Bytes are requested bytes, Overhead what the heap added to them; both are
// signed so that differences have the same type.
type Usage struct {
	Count    int64 `json:"count"`              // blocks
	Bytes    int64 `json:"bytes"`              // requested
	Overhead int64 `json:"overhead,omitempty"` // bytes that the heap added; 0 where unknown
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Count + v.Count, u.Bytes + v.Bytes, u.Overhead + v.Overhead}
}

// Sub returns the difference u − v.
func (u Usage) Sub(v Usage) Usage {
	return Usage{u.Count - v.Count, u.Bytes - v.Bytes, u.Overhead - v.Overhead}
}

// Total sums the sites' usage at the snapshot with the given index.
func (c *Capture) Total(snapshot int) Usage {
	var sum Usage
	for i := range c.Sites {
		sum = sum.Add(c.Sites[i].Usage[snapshot])
	}
	return sum
}
