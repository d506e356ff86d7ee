package tracecapture

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl"
)

// modules are the images of a process, and those of the kernel that its stacks run through. Where images held the same
// addresses one after the other, the one that was there longest is taken; hidden counts frames in the others' ranges.
func (b *builder) modules(process uint32, stacks *capture.Stacks) (modules []capture.Module, hidden int64) {
	images := slices.Clone(b.joined.Processes[process].Images)
	for _, i := range b.joined.Kernel() {
		if i != process {
			images = append(images, used(b.joined.Processes[i].Images, stacks)...)
		}
	}
	from, to := b.covered.From, b.covered.To
	slices.SortStableFunc(images, func(x, y etl.Image) int { return cmp.Compare(stay(&y, from, to), stay(&x, from, to)) })
	var taken []etl.Image
	var others []etl.Image
	for _, image := range images {
		at := slices.IndexFunc(taken, func(t etl.Image) bool { return image.Base < t.Base+t.Size && t.Base < image.Base+image.Size })
		switch {
		case image.Size == 0:
		case at < 0:
			taken = append(taken, image)
		case !same(&taken[at], &image):
			others = append(others, image)
		}
	}
	slices.SortFunc(taken, func(x, y etl.Image) int { return cmp.Compare(x.Base, y.Base) })
	for i := range taken {
		modules = append(modules, module(&taken[i]))
	}
	for id := range stacks.FrameCount() {
		a := stacks.Frame(capture.FrameID(id)).Address
		if slices.ContainsFunc(others, func(o etl.Image) bool { return a-o.Base < o.Size }) {
			hidden++
		}
	}
	return modules, hidden
}

// stay is how long an image was loaded inside the trace.
func stay(image *etl.Image, from, to int64) int64 {
	if image.Load != etl.Unknown {
		from = max(from, image.Load)
	}
	if image.Unload != etl.Unknown {
		to = min(to, image.Unload)
	}
	return to - from
}

// same reports whether two loads are of the same file.
func same(a, b *etl.Image) bool {
	return a.Base == b.Base && a.Size == b.Size && strings.EqualFold(a.Path, b.Path) && a.TimeDateStamp == b.TimeDateStamp
}

// used are the images that a stack runs through.
func used(images []etl.Image, stacks *capture.Stacks) (list []etl.Image) {
	least := uint64(math.MaxUint64)
	for i := range images {
		least = min(least, images[i].Base)
	}
	hit := make([]bool, len(images))
	for id := range stacks.FrameCount() {
		a := stacks.Frame(capture.FrameID(id)).Address
		if a < least {
			continue
		}
		for i := range images {
			if a-images[i].Base < images[i].Size {
				hit[i] = true
			}
		}
	}
	for i := range images {
		if hit[i] {
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
	if image.Load != etl.Unknown {
		out.Loaded = image.Load
	}
	if image.Unload != etl.Unknown {
		out.Unloaded = image.Unload
	}
	return out
}
