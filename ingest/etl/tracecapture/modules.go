package tracecapture

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl"
)

// modules are the images of a process, and those of the kernel that its stacks run through. The first are former, which
// frames name; of others that held the same addresses one after the other, the one that was there longest is taken;
// hidden counts frames that may lie in those that are not.
func (b *builder) modules(process uint32, stacks *capture.Stacks, former []etl.Image) (modules []capture.Module,
	hidden int64) {
	images, frames := slices.Clone(b.joined.Processes[process].Images), addressesOf(stacks)
	for _, i := range b.joined.Kernel() {
		if i != process {
			images = append(images, used(b.joined.Processes[i].Images, frames)...)
		}
	}
	for i := range former {
		m := module(&former[i])
		m.Former = true
		modules = append(modules, m)
	}
	taken, others := inTurn(images, b.covered.From, b.covered.To)
	for _, image := range taken {
		modules = append(modules, module(image))
	}
	if b.turns[process] != nil { // frames in the process's own name them
		_, others = inTurn(images[len(b.joined.Processes[process].Images):], b.covered.From, b.covered.To)
		hidden = b.turns[process].left
	}
	slices.SortFunc(others, func(x, y *etl.Image) int { return cmp.Compare(x.Base, y.Base) })
	for _, image := range others {
		n := held(frames, image)
		hidden += int64(n)
		frames = frames[firstFrom(frames, image.Base)+n:] // counted once
	}
	return modules, hidden
}

// addressesOf are the addresses of all frames in their order.
func addressesOf(stacks *capture.Stacks) []uint64 {
	list := make([]uint64, stacks.FrameCount())
	for id := range list {
		list[id] = stacks.Frame(capture.FrameID(id)).Address
	}
	slices.Sort(list)
	return list
}

// held is how many of the sorted addresses lie in an image that has a size.
func held(addresses []uint64, image *etl.Image) int {
	rest := addresses[firstFrom(addresses, image.Base):]
	return sort.Search(len(rest), func(i int) bool { return rest[i] > last(image) })
}

// firstFrom is where the first address from base on is.
func firstFrom(addresses []uint64, base uint64) int {
	at, _ := slices.BinarySearch(addresses, base)
	return at
}

// last is the last address of an image.
func last(image *etl.Image) uint64 {
	if end := image.Base + image.Size - 1; end >= image.Base {
		return end
	}
	return math.MaxUint64
}

// stay is how long an image was loaded inside the trace.
func stay(image *etl.Image, from, to int64) int64 {
	if image.Load != etl.UnknownTime {
		from = max(from, image.Load)
	}
	if image.Unload != etl.UnknownTime {
		to = min(to, image.Unload)
	}
	return to - from
}

// same reports whether two loads are of the same file.
func same(a, b *etl.Image) bool {
	return a.Base == b.Base && a.Size == b.Size && strings.EqualFold(a.Path, b.Path) && a.TimeDateStamp == b.TimeDateStamp
}

// used are the images that a stack runs through.
func used(images []etl.Image, frames []uint64) (list []etl.Image) {
	for i := range images {
		if images[i].Size > 0 && held(frames, &images[i]) > 0 {
			list = append(list, images[i])
		}
	}
	return list
}

// module is an image as captures have it.
func module(image *etl.Image) capture.Module {
	m := capture.Module{Path: image.Path, Base: image.Base, Size: image.Size, Symbols: capture.SymbolsNone}
	if m.Path == "" {
		m.Path = image.OriginalName
	}
	if image.Identified() {
		m.PDB = image.PDB[strings.LastIndexAny(image.PDB, `\/`)+1:]
		m.DebugID = debugID(image)
	}
	return m
}

func debugID(image *etl.Image) string {
	if !image.Identified() {
		return ""
	}
	return fmt.Sprintf("%s%X", image.GUID.Hex(), image.Age)
}

// tableImage is an image as the allocation table has it.
func tableImage(process uint32, image *etl.Image) allocations.Image {
	out := allocations.Image{
		Process: process, Base: image.Base, Size: image.Size, Path: image.Path, PDB: image.PDB, DebugID: debugID(image),
		Loaded: allocations.BeforeTrace, Unloaded: allocations.Never,
	}
	if image.Load != etl.UnknownTime {
		out.Loaded = image.Load
	}
	if image.Unload != etl.UnknownTime {
		out.Unloaded = image.Unload
	}
	return out
}
