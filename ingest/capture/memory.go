package capture

import (
	"fmt"
	"strconv"
)

// Memory is what evidence says of the memory of a process beside its sites: where it is, what the heaps hold, who holds
// on to it, and what could not be read. Evidence that says one of these things leaves the others empty. Sizes are
// bytes. As JSON it is as reports print it, but for the numbers of stacks, which mean something in the capture only.
type Memory struct {
	Source string       `json:"source"`               // who says so: "dump", "DebugDiag 2.2.0.14", "WinDbg !heap -s", "VMMap"
	Space  *Space       `json:"space,omitempty"`      // nil where the evidence does not tell it
	Heaps  []HeapFacts  `json:"heap_facts,omitempty"` // as the heaps count; in the order of the evidence
	Groups []BlockGroup `json:"groups,omitempty"`     // sorted by By; of one By, the largest first
	// Cut are the values of By whose small groups are left out of Groups.
	Cut      []string         `json:"cut,omitempty"`
	Reach    *PointerSearch   `json:"reach,omitempty"` // nil where nobody searched
	Managed  []ManagedHeap    `json:"managed,omitempty"`
	Threads  []Thread         `json:"threads,omitempty"`
	Handles  []HandleType     `json:"handles,omitempty"` // most first
	Unloaded []UnloadedModule `json:"unloaded,omitempty"`
	Claims   []ToolConclusion `json:"claims,omitempty"`  // what DebugDiag concluded about functions
	Samples  []Sample         `json:"samples,omitempty"` // single allocations whose stacks the evidence shows
	Notes    []Note           `json:"notes,omitempty"`
	Gaps     []Gap            `json:"gaps,omitempty"` // memory that could not be read
}

// An Address prints as 0x and hex digits.
type Address uint64

// String prints the address as Go's %#x does: "0x1a2b".
func (a Address) String() string { return "0x" + strconv.FormatUint(uint64(a), 16) }

// MarshalText implements encoding.TextMarshaler.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Address) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 0, 64)
	if err != nil {
		return fmt.Errorf("capture: address %q: %w", text, err)
	}
	*a = Address(v)
	return nil
}

// A Space is the address space of a process by what it is used for.
type Space struct {
	Uses []UseTotal `json:"uses"` // each once, in the order of UseNames
	// States, Types and Protections cut the same regions in other ways, by the names of Windows: MEM_COMMIT, MEM_PRIVATE,
	// PAGE_READWRITE.
	States      []Share `json:"states,omitempty"`
	Types       []Share `json:"types,omitempty"`
	Protections []Share `json:"protections,omitempty"`
	// Largest are the largest reservations that are no image, heap or stack, and Repeated the sizes that many of them
	// have.
	Largest  []Reservation          `json:"largest,omitempty"`
	Repeated []RepeatedReservations `json:"repeated,omitempty"`
	// LargestFree is the size in bytes of the largest free range of addresses, which begins at LargestFreeAt; 0 where
	// the evidence does not tell.
	LargestFree   int64   `json:"largest_free,omitempty"`
	LargestFreeAt Address `json:"largest_free_at,omitempty"`
	// PrivateBytes is what the system charges the process, the counter that Task Manager shows as commit size; 0 unknown.
	PrivateBytes int64 `json:"private_bytes,omitempty"`
	WorkingSet   int64 `json:"working_set,omitempty"` // bytes; 0 unknown
	// Partial says that the regions are those whose bytes are in the evidence: what is only reserved, and what is free, is
	// not known.
	Partial bool `json:"partial,omitempty"`
	// Map says what lies where; nil where the evidence has sums only.
	Map *SpaceMap `json:"map,omitempty"`
	// Bits is the width of the program, 32 or 64, and Limit the address space that it may use: 2, 3 or 4 GB of one of 32
	// bits. Each is 0 where the evidence does not tell.
	Bits  uint8 `json:"bits,omitempty"`
	Limit int64 `json:"limit,omitempty"` // bytes
	// MachineCommit is how many bytes all processes of the machine are charged, of at most MachineCommitLimit; 0
	// unknown.
	MachineCommit      int64 `json:"machine_commit,omitempty"`
	MachineCommitLimit int64 `json:"machine_commit_limit,omitempty"`
}

// A UseName says what a part of the address space is used for.
type UseName string

// The uses. Everything that is none of the others and private is UsePrivate: VirtualAlloc by the program or its
// libraries.
const (
	UseImage    UseName = "image"
	UseHeap     UseName = "heap"
	UsePageHeap UseName = "page-heap"
	// UseUnreached is of maps only: heaps there, more than half of which are blocks that no pointer was found to.
	UseUnreached UseName = "unreached"
	UseManaged   UseName = "managed"
	UseStack     UseName = "stack"
	UseMapped    UseName = "mapped"
	UsePrivate   UseName = "virtual"
	UseTEB       UseName = "teb"
	UsePEB       UseName = "peb"
	UseSystem    UseName = "system" // what the evidence counts as the system's, and says no more of
	UseFree      UseName = "free"
)

// UseNames are the uses in the order in which tables show them.
var UseNames = []UseName{UsePrivate, UseUnreached, UseHeap, UsePageHeap, UseManaged, UseStack, UseImage, UseMapped,
	UsePEB, UseTEB, UseSystem, UseFree}

// UseTotal sums the regions of one use. Reserved is the address space taken, committed or not, as VirtualAlloc counts
// it.
type UseTotal struct {
	Name      UseName `json:"use"`
	Regions   int64   `json:"regions"` // how many
	Reserved  int64   `json:"reserved"`
	Committed int64   `json:"committed"`
	Private   int64   `json:"private,omitempty"` // of the committed bytes those that no other process shares, where known
	Largest   int64   `json:"largest,omitempty"` // the largest region's bytes
}

// A Share sums the regions that have something in common.
type Share struct {
	Name    string `json:"name"`
	Regions int64  `json:"regions"` // how many
	Bytes   int64  `json:"bytes"`
}

// A Reservation is what one call of VirtualAlloc reserved.
type Reservation struct {
	Address   Address `json:"address"`
	Use       UseName `json:"use"`
	Reserved  int64   `json:"reserved"`          // bytes
	Committed int64   `json:"committed"`         // bytes of Reserved
	Protect   string  `json:"protect,omitempty"` // of its first committed region: "PAGE_READWRITE"
	Note      string  `json:"note,omitempty"`    // what its content looks like, or whose it seems to be
}

// RepeatedReservations are reservations of one size.
type RepeatedReservations struct {
	ReservedEach   int64   `json:"reserved"` // bytes
	Count          int64   `json:"count"`
	CommittedTotal int64   `json:"committed"` // bytes of all together
	First          Address `json:"first"`     // the lowest address
}

// HeapFacts are the figures of one heap. What the evidence does not tell is 0.
type HeapFacts struct {
	Handle Address `json:"handle"`
	// Kind is "NT heap", "segment heap", "page heap", or what else the evidence calls it.
	Kind      string `json:"kind"`
	Name      string `json:"name,omitempty"`      // "default process heap"
	Bits      uint8  `json:"bits,omitempty"`      // 32 or 64
	Flags     uint32 `json:"flags,omitempty"`     // of HeapCreate and the heap itself: HEAP.Flags
	FrontEnd  string `json:"front_end,omitempty"` // "LFH"
	Reserved  int64  `json:"reserved"`            // bytes: as the heap counts, or as the walk found where it does not
	Committed int64  `json:"committed"`           // bytes of Reserved
	Virtual   int64  `json:"virtual,omitempty"`   // bytes of segments up to their last committed byte and of virtual blocks: column Virt of !heap -s
	Free      Usage  `json:"free"`                // free blocks; Bytes with their headers
	// LargestFree is the largest free block, in bytes with its header. For a segment heap it is the committed bytes of
	// the largest free range.
	LargestFree int64 `json:"largest_free,omitempty"`
	FreeLFH     Usage `json:"free_lfh,omitzero"`  // free blocks in the low-fragmentation heap, which are not in Free
	Busy        Usage `json:"busy"`               // blocks in use; Bytes are requested
	LFH         Usage `json:"lfh"`                // of Busy those in the low-fragmentation heap
	Blocks      Usage `json:"virtual_blocks"`     // of Busy those that are reservations of their own ("virtual blocks")
	Internal    int64 `json:"internal,omitempty"` // bytes of blocks that the heap made for itself
	Segments    int64 `json:"segments,omitempty"` // how many
	// UncommittedRanges counts the uncommitted ranges inside segments; the largest has LargestUncommitted bytes.
	UncommittedRanges  int64 `json:"uncommitted_ranges,omitempty"`
	LargestUncommitted int64 `json:"largest_uncommitted,omitempty"`
	Contention         int64 `json:"contention,omitempty"` // how often a thread waited for the heap's lock
	// Walked is how many committed bytes the walk looked into; all of them where it equals Committed. BadEntries counts
	// the heap entries that failed their checks.
	Walked       int64  `json:"walked,omitempty"`
	BadEntries   int64  `json:"bad_entries,omitempty"`
	LayoutSource string `json:"layout,omitempty"` // version of Windows, or PDB, from which the walk knows the structures
	Note         string `json:"note,omitempty"`
	// Doubtful says that one of the sizes is impossible.
	Doubtful bool `json:"doubtful,omitempty"`
	// Growth is against the first evidence of the same kind of the same process; reports fill it in.
	Growth *HeapGrowth `json:"growth,omitempty"`
}

// CountsBusy reports whether the evidence tells the busy bytes of a heap: for a heap that was not walked, 0 means
// unknown.
func (h *HeapFacts) CountsBusy() bool { return h.Busy != (Usage{}) || h.Walked > 0 }

// HeapGrowth is how a heap has changed. What the evidence does not tell, then or now, is nil.
type HeapGrowth struct {
	Reserved  int64  `json:"reserved"`                 // bytes
	Committed int64  `json:"committed"`                // bytes
	Busy      *Usage `json:"busy,omitempty"`           // nil also where not all of the heap was looked into
	Blocks    *Usage `json:"virtual_blocks,omitempty"` // growth of HeapFacts.Blocks; Bytes are 0 where only their number is known
	Sizes     *Usage `json:"sizes,omitempty"`          // growth of the listed BySize groups of the heap together
}

// The ways in which blocks are grouped.
const (
	BySize    = "size"    // requested bytes
	ByType    = "type"    // what their first pointer leads to: a table of virtual functions, mostly
	ByContent = "content" // what they begin with
	ByManager = "manager" // which of DebugDiag's memory managers gave them
)

// A BlockGroup is blocks that have something in common, for evidence without stacks.
type BlockGroup struct {
	By   string  `json:"by"`             // BySize, ByType, ByContent or ByManager
	Heap Address `json:"heap,omitempty"` // 0 for all heaps together
	Size int64   `json:"size,omitempty"` // bytes of each block, of BySize
	// Key names what they have in common: "app.exe+0x1234" of ByType, until symbols are there.
	Key    string  `json:"key,omitempty"`
	Module string  `json:"module,omitempty"` // file name; of ByType, with the offset in it
	Offset Address `json:"offset,omitempty"` // in Module, of ByType
	// Symbol is a stack of one frame, one byte behind the place that Key names, so that symbols name it as they name
	// calls.
	Symbol StackID `json:"symbol,omitempty"`
	Usage  Usage   `json:"usage"` // of all its blocks together
	// Percent is the group's share of the heap's busy bytes, as the evidence prints it; 0 where it does not.
	Percent float64 `json:"percent,omitempty"`
	// Doubtful says that the group's bytes are impossible.
	Doubtful bool    `json:"doubtful,omitempty"`
	Example  Address `json:"example,omitempty"` // address of its first block
	// Unreachable counts those of its blocks that nothing points to; nil where nobody looked.
	Unreachable *Usage `json:"unreachable,omitempty"`
	Growth      *Usage `json:"growth,omitempty"` // against the first evidence of the same kind of the same process; reports fill it in
}

// PointerSearch is the outcome of looking for pointers to blocks in all memory that the evidence has. It is
// conservative: a number that looks like a pointer is one, so what is unreachable is certainly not pointed to from
// there, and what is reachable may be a leak all the same.
type PointerSearch struct {
	Scanned     int64  `json:"scanned"`        // bytes that were searched for pointers
	Blocks      Usage  `json:"blocks"`         // that were looked for
	Unreachable Usage  `json:"unreachable"`    // of Blocks those to which no pointer was found
	Note        string `json:"note,omitempty"` // what limits it
}

// A ManagedHeap is memory of a garbage collector.
type ManagedHeap struct {
	Name     string `json:"name"`                     // "Heap 0"
	Bytes    int64  `json:"bytes"`                    // committed
	Small    int64  `json:"small_objects,omitempty"`  // bytes of the generations 0 to 2
	Large    int64  `json:"large_objects,omitempty"`  // bytes of the large object heap
	Pinned   int64  `json:"pinned_objects,omitempty"` // bytes of the pinned object heap
	Segments int64  `json:"segments,omitempty"`       // how many
	// Guess says that the memory was recognised by its content alone, and not by data of the runtime.
	Guess bool `json:"guess,omitempty"`
}

// A Thread is a thread with its stack.
type Thread struct {
	ID        uint32  `json:"id"`
	Name      string  `json:"name,omitempty"`
	Stack     Address `json:"stack,omitempty"` // the lowest address of the reservation
	Reserved  int64   `json:"reserved"`        // bytes of its stack
	Committed int64   `json:"committed"`       // bytes of its stack
	Start     string  `json:"start,omitempty"` // function in which it began: "app.exe+0x1234"
	At        string  `json:"at,omitempty"`    // function in which it was: "ntdll.dll+0x1234"
}

// A HandleType counts handles of one type.
type HandleType struct {
	Type  string `json:"type"` // "Event"
	Count int64  `json:"count"`
	Named int64  `json:"named,omitempty"` // how many of them have a name
}

// An UnloadedModule is an image that was in the process before.
type UnloadedModule struct {
	Name string  `json:"name"`
	Base Address `json:"base"`
	Size uint64  `json:"size"` // bytes
}

// A ToolConclusion is what a tool concluded about a function, by its own method.
type ToolConclusion struct {
	Stack       StackID
	Type        string // "Heap allocation(s)"
	Usage       Usage  // what the function had not freed
	UsageMargin int64  `json:"Margin"` // by how many bytes the printed size may be wrong
	Percent     int    // the tool's own probability that it leaks; −1 for none
	Samples     []Sample
	Detached    bool // it is about handles or the like, not memory: no site has it
}

// A Sample is one allocation whose stack the evidence shows.
type Sample struct {
	Title   string // "Call stack sample 1"
	Stack   StackID
	Address uint64 // 0 unknown
	Size    int64  // bytes
	Note    string // when it was made, or what the tool says of it
	// Unreachable says that the tool found no pointer to it.
	Unreachable bool
	// Leaked says that the tool reports it as a leak.
	Leaked bool
}

// A Note is a sentence that the evidence brings, or that its reader has to say.
type Note struct {
	Topic  string `json:"topic"`            // one of the Topic constants
	Text   string `json:"text"`             // one sentence or more
	Advice string `json:"advice,omitempty"` // what to do about it; "" for none
}

// The topics of notes.
const (
	TopicComment   = "comment"   // why the dump was written, by its writer
	TopicProcess   = "process"   // the machine, the system, the command line
	TopicLeakTrack = "leaktrack" // DebugDiag's tracking
	TopicManaged   = "managed"   // the .NET runtime
	TopicError     = "error"     // the tool's own conclusions, by their gravity
	TopicWarning   = "warning"
	TopicInfo      = "info"
	TopicMethod    = "method" // how a figure was made, where that matters
)

// A Gap is memory that could not be looked into.
type Gap struct {
	What    string  `json:"what"`           // "heap", "segment", "LFH subsegment", "range"
	Heap    Address `json:"heap,omitempty"` // handle of the heap it is part of; 0 for none
	Address Address `json:"address"`        // where it begins
	Bytes   int64   `json:"bytes"`
	Why     string  `json:"why"` // the reason, as a clause
}
