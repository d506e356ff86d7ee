package ui

import (
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/figures"
	"heapdrift/internal/analysis"
)

// StackParts are a stack in the three parts that it is read in.
type StackParts struct {
	allocator []*analysis.Frame // folded
	own       []*analysis.Frame // the first one is to blame
	start     []*analysis.Frame // folded
}

// PartsOfStack cuts a stack, innermost frame first, into its parts.
func PartsOfStack(stack []*analysis.Frame) StackParts {
	blame := max(0, analysis.BlameFrame(stack))
	end := len(stack)
	for end > blame+1 && stack[end-1].Layer == analysis.LayerBase {
		end--
	}
	return StackParts{stack[:blame], stack[blame:end], stack[end:]}
}

// foldedAllocator says how many frames are folded and which: the modules, and the function that was called to allocate.
func foldedAllocator(frames []*analysis.Frame) string {
	called := frames[len(frames)-1]
	names := moduleNames(frames[:len(frames)-1])
	if called.Function != "" {
		names = append(names, called.Function)
	} else if !slices.Contains(names, called.Module) {
		names = append(names, called.Module)
	}
	return fmt.Sprintf("%s · %s", figures.Plural(len(frames), "allocator frame"), strings.Join(names, ", "))
}

func foldedStart(frames []*analysis.Frame) string {
	return fmt.Sprintf("%s · %s", figures.Plural(len(frames), "thread start frame"), strings.Join(moduleNames(frames), ", "))
}

// moduleNames are the modules of frames, each once.
func moduleNames(frames []*analysis.Frame) []string {
	var names []string
	for _, f := range frames {
		if name := f.Module; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// frameClass is how a frame is drawn.
func frameClass(f *analysis.Frame, blame bool) string {
	var classes []string
	if blame {
		classes = append(classes, "blame")
	}
	if f.Inline {
		classes = append(classes, "inline")
	}
	if f.Function == "" {
		classes = append(classes, "unresolved")
	}
	return strings.Join(classes, " ")
}

// frameOffset is printed behind a frame's name; inlined frames have none of their own.
func frameOffset(f *analysis.Frame) string {
	switch {
	case f.Inline:
		return " [inlined]"
	case f.Function == "" || f.Offset == "":
		return ""
	}
	return "+" + f.Offset
}
