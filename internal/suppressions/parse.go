package suppressions

import (
	"slices"
	"strings"
)

// Parse reads a file of any form. Each line that says something is part of a Suppression or of a Rejection.
func Parse(text string) ([]Suppression, []Rejection) {
	var p parser
	for text = strings.TrimPrefix(text, "\uFEFF"); text != ""; {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		p.line++
		if line = oneLine(line); line != "" && line[0] != '#' {
			p.take(line)
		}
	}
	p.end()
	return p.list, p.rejected
}

// A parser reads a file line by line.
type parser struct {
	line     int
	open     *entry
	list     []Suppression
	rejected []Rejection
}

// An entry is a suppression of Valgrind or Dr. Memory that is being read.
type entry struct {
	Suppression
	kind   string // of error, as it is written
	reason string // why it cannot be taken; "" for none
}

// errorKinds are those of Dr. Memory, with which its entries begin.
var errorKinds = []string{"LEAK", "POSSIBLE LEAK", "REACHABLE LEAK", "HANDLE LEAK", "UNADDRESSABLE ACCESS",
	"UNINITIALIZED READ", "INVALID HEAP ARGUMENT", "GDI USAGE ERROR", "WARNING"}

func (p *parser) take(line string) {
	switch {
	case p.open != nil && p.open.Form == Valgrind:
		p.valgrind(line)
	case line == "{":
		p.end()
		p.open = &entry{Suppression: Suppression{Form: Valgrind, Line: p.line}}
	case slices.Contains(errorKinds, strings.ToUpper(line)):
		p.end()
		p.open = &entry{Suppression: Suppression{Form: DrMemory, Line: p.line}, kind: strings.ToUpper(line)}
		p.open.reason = reasonOfKind(p.open.kind)
	case p.open != nil && isFrameOfDrMemory(line):
		p.drMemory(line)
	default:
		p.end()
		p.lsan(line)
	}
}

// reasonOfKind says why an entry for a kind of error is not taken; "" where it is.
func reasonOfKind(kind string) string {
	switch kind {
	case "LEAK":
		return ""
	case "POSSIBLE LEAK":
		return "a rule would suppress certain leaks of this stack as well; possible ones fail no gate"
	case "REACHABLE LEAK":
		return "reachable blocks are not leaks for heapdrift; a rule would suppress leaks of this stack"
	}
	return "not about leaks of memory"
}

// end closes the entry that is open.
func (p *parser) end() {
	e := p.open
	p.open = nil
	if e == nil {
		return
	}
	if e.Form == Valgrind { // only its brace ends it
		e.fail("no } ends the entry")
	}
	p.add(e)
}

// add takes an entry, or rejects it.
func (p *parser) add(e *entry) {
	e.Frames = trim(e.Frames)
	switch {
	case e.reason != "":
	case len(e.Frames) > MaxFrames:
		e.reason = "more than 63 frames; write ... for those between"
	case !slices.ContainsFunc(e.Frames, Frame.chooses):
		e.reason = "it would suppress every leak: no frame names a function or module"
	default:
		p.list = append(p.list, e.Suppression)
		return
	}
	text := e.kind
	if e.Name != "" {
		text = strings.TrimSpace(text + " " + e.Name)
	}
	p.rejected = append(p.rejected, Rejection{e.Line, text, e.reason})
}

// fail says why an entry cannot be taken. The first reason stays.
func (e *entry) fail(reason string) {
	if e.reason == "" {
		e.reason = reason
	}
}

// frame adds a frame. What is over the limit is only counted.
func (e *entry) frame(f Frame) {
	if len(e.Frames) <= MaxFrames+leadingFrames {
		e.Frames = append(e.Frames, f)
	}
}

// leadingFrames is how many frames of allocators an entry may have beside the others.
const leadingFrames = 8

// chooses reports whether the frame does not match each frame.
func (f Frame) chooses() bool {
	return strings.Trim(f.Module, "*") != "" || strings.Trim(f.Function, "*") != ""
}

// allocators are functions with which the stacks of the tools begin. Which of them other evidence has depends on the
// tool, so they are not part of what is matched.
var allocators = []string{"malloc", "calloc", "realloc", "memalign", "posix_memalign", "aligned_alloc", "valloc",
	"operator new", "operator new[]", "replace_malloc", "replace_calloc", "replace_realloc", "replace_operator_new",
	"replace_operator_new_array", "replace_operator_new_nothrow", "replace_operator_new_array_nothrow",
	"replace_RtlAllocateHeap", "replace_RtlReAllocateHeap", "HeapAlloc", "RtlAllocateHeap"}

// trim takes the allocator's frames off the inner end, and "..." off the outer end.
func trim(frames []Frame) []Frame {
	for len(frames) > 0 && frames[0].isAllocator() {
		frames = frames[1:]
	}
	for len(frames) > 0 && frames[len(frames)-1] == (Frame{Many: true}) {
		frames = frames[:len(frames)-1]
	}
	return frames
}

// allocatorModules are where the allocators are: the C runtimes of Windows and Linux, and Dr. Memory's own.
var allocatorModules = []string{"ntdll.dll", "kernel32.dll", "kernelbase.dll", "ucrtbase.dll", "ucrtbased.dll",
	"msvcr*.dll", "replace_malloc.dll", "drmemorylib.dll", "libdrmemorylib.so*", "libc.so*", "libc-*.so*", "libstdc++.so*",
	"libstdc++-6.dll"}

// isAllocator reports whether the frame is one of any allocator. A module of the program's own may have functions that
// are called alike: without that frame the entry would be for more.
func (f Frame) isAllocator() bool {
	return !f.Many && (f == (Frame{}) || f.Function != "" && f.mayAllocate() &&
		slices.ContainsFunc(allocators, func(name string) bool { return matches(f.Function, name) }))
}

// mayAllocate reports whether the frame is in a module of an allocator, or in any.
func (f Frame) mayAllocate() bool {
	module := strings.ToLower(f.Module)
	name, _, _ := strings.Cut(module, ".")
	return strings.Trim(name, "*") == "" || slices.ContainsFunc(allocatorModules, func(known string) bool {
		stem, _, _ := strings.Cut(known, ".")
		return matches(known, module) || matches(stem, module) || module == stem+".*"
	})
}
