package capture

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"heapdrift/ingest/sorting"
)

// Names are what symbols tell about the return addresses of a run. They are stored apart from the captures: if symbols
// arrive late, the run gets names without a second reading of its evidence.
type Names struct {
	Images []Image // sorted by ImageID once Sort was called
	byID   map[ImageID]int
}

// An ImageID identifies an image, wherever it was loaded, as far as the evidence allows.
type ImageID struct {
	File    string // file name in lower case
	Size    uint64 // SizeOfImage in bytes
	DebugID string // "" where the evidence does not say
}

// ImageID is what identifies the module's image.
func (m Module) ImageID() ImageID { return ImageID{strings.ToLower(m.FileName()), m.Size, m.DebugID} }

// An Image is a module of the run, what was found for it and its named return addresses.
type Image struct {
	ImageID
	Symbols     SymbolKind // what the names rest on
	PDB         string     // file name of the PDB that was used, or of the one that is wanted
	UsedDebugID string     // debug id of the PDB that was used; "" for none
	Match       string     // a sentence: how the symbols were matched, or what is missing
	Proven      bool       // the symbols belong to the module beyond doubt: its debug id is that of the PDB
	Own         bool       // the team uploaded its PDB: the code is theirs
	Tried       []Attempt  // every place that was looked at

	rvas    []uint32 // ascending
	ends    []uint32 // ends[i] is where the frames of rvas[i] end
	frames  []NamedFrame
	offsets map[FunctionOffset][]NamedFrame
}

// A FunctionOffset is a return address in evidence that prints names instead of addresses: an offset in bytes from the
// start of a function.
type FunctionOffset struct {
	Function string
	Offset   uint64
}

// An Attempt is a place where symbols were looked for, and what came of it.
type Attempt struct {
	Place  string `json:"place"`            // a server, a folder, or "upload"
	Result string `json:"result"`           // found, not-found, mismatch, refused, offline, failed, ambiguous
	Detail string `json:"detail,omitempty"` // what the error said; "" for none
}

// A NamedFrame is one function at a return address: the one whose code it is, or one that was inlined there.
type NamedFrame struct {
	Function string // as debuggers print it, without the module
	Offset   uint64 // of the return address from the function's start; 0 for inlined functions
	File     string // source file, as the PDB spells it; "" where unknown
	Line     uint32 // of the call; 0 where unknown
	Inline   bool   // it was inlined there
	Type     string // what the call allocates, where the compiler recorded it
	Approx   bool   // approximate: the nearest symbol below, which need not be the function itself
}

// Add names a return address of the image, an offset from its base; frames are innermost first. RVAs must come in
// ascending order.
func (i *Image) Add(rva uint32, frames ...NamedFrame) {
	if len(frames) == 0 {
		return
	}
	i.rvas = append(i.rvas, rva)
	i.frames = append(i.frames, frames...)
	i.ends = append(i.ends, uint32(len(i.frames)))
}

// Frames returns the frames at a return address, innermost first; none where nothing is known.
func (i *Image) Frames(rva uint32) []NamedFrame {
	at, ok := slices.BinarySearch(i.rvas, rva)
	if !ok {
		return nil
	}
	begin := uint32(0)
	if at > 0 {
		begin = i.ends[at-1]
	}
	return i.frames[begin:i.ends[at]:i.ends[at]]
}

// AddOffset names the frames at an offset of a function: its inlined calls, innermost first, and then the function
// itself.
func (i *Image) AddOffset(p FunctionOffset, frames ...NamedFrame) {
	if i.offsets == nil {
		i.offsets = map[FunctionOffset][]NamedFrame{}
	}
	i.offsets[p] = frames
}

// AtOffset returns the frames at an offset of a function, innermost first. It returns none where AddOffset has not
// named the offset.
func (i *Image) AtOffset(p FunctionOffset) []NamedFrame { return i.offsets[p] }

// NamedOffsets lists the offsets that AddOffset has named, sorted by function and offset.
func (i *Image) NamedOffsets() []FunctionOffset {
	return sorting.Sorted(maps.Keys(i.offsets), func(a, b FunctionOffset) int {
		return cmp.Or(strings.Compare(a.Function, b.Function), cmp.Compare(a.Offset, b.Offset))
	})
}

// All yields the return addresses that have names, ascending, with their frames.
func (i *Image) All() iter.Seq2[uint32, []NamedFrame] {
	return func(yield func(uint32, []NamedFrame) bool) {
		begin := uint32(0)
		for k, rva := range i.rvas {
			if !yield(rva, i.frames[begin:i.ends[k]:i.ends[k]]) {
				return
			}
			begin = i.ends[k]
		}
	}
}

// NamedAddresses is the number of return addresses that have names.
func (i *Image) NamedAddresses() int { return len(i.rvas) }

// Image returns what is known about an image, or nil. It is safe for concurrent use once Sort was called.
func (n *Names) Image(id ImageID) *Image {
	if n == nil {
		return nil
	}
	if at, ok := n.byID[id]; ok {
		return &n.Images[at]
	}
	return nil
}

// Sort puts the images in the order of their ids and makes Image find them. It is called once, after the last image is
// there.
func (n *Names) Sort() {
	sorting.Stable(n.Images, func(a, b Image) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Size, b.Size), strings.Compare(a.DebugID, b.DebugID))
	})
	n.byID = make(map[ImageID]int, len(n.Images))
	for i := range n.Images {
		n.byID[n.Images[i].ImageID] = i
	}
}

// SameNames reports whether two images name the same return addresses with the same functions, files and lines.
func (i *Image) SameNames(other *Image) bool {
	return slices.Equal(i.rvas, other.rvas) && slices.Equal(i.ends, other.ends) && slices.Equal(i.frames, other.frames)
}
