package ui

import (
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
)

// StackParts is a stack cut in three for display: allocator side, own code, thread start.
type StackParts struct {
	inner []stackRun        // the frames inward of the frame to blame: what allocated on its behalf
	own   []*analysis.Frame // from the frame to blame to the last before `start`
	start []*analysis.Frame // thread start frames, always folded
}

// A stackRun is neighbouring frames that are folded together, or shown.
type stackRun struct {
	fold   string // what they are called where they are folded
	frames []*analysis.Frame
}

// PartsOfStack cuts a stack, innermost frame first, into its parts.
func PartsOfStack(stack []*analysis.Frame) StackParts {
	blamed := max(0, analysis.BlamedFrameIndex(stack))
	end := len(stack)
	for end > blamed+1 && stack[end-1].Layer == analysis.LayerBase {
		end--
	}
	s := StackParts{own: stack[blamed:end], start: stack[end:]}
	for _, f := range stack[:blamed] {
		fold := foldOf(f)
		if n := len(s.inner); n == 0 || s.inner[n-1].fold != fold {
			s.inner = append(s.inner, stackRun{fold: fold})
		}
		run := &s.inner[len(s.inner)-1]
		run.frames = append(run.frames, f)
	}
	return s
}

// foldOf names the fold that an inner frame goes into. It is "" for code of other layers, which stays visible because
// it called the allocator.
func foldOf(f *analysis.Frame) string {
	switch f.Layer {
	case blame.LayerTool, blame.LayerAllocator, blame.LayerHeapGrowth:
		return "allocator frame"
	case blame.LayerPlumbing:
		return "plumbing frame"
	}
	return ""
}

// folded says how many frames are folded and which: their modules, and the outermost folded function, which the visible
// code calls.
func (r *stackRun) folded() string {
	called := r.frames[len(r.frames)-1]
	names := moduleNames(r.frames[:len(r.frames)-1])
	if called.Function != "" {
		names = append(names, called.Function)
	} else if !slices.Contains(names, called.Module) {
		names = append(names, called.Module)
	}
	return fmt.Sprintf("%s · %s", quantity.Plural(len(r.frames), r.fold), strings.Join(names, ", "))
}

func foldedStart(frames []*analysis.Frame) string {
	return fmt.Sprintf("%s · %s", quantity.Plural(len(frames), "thread start frame"), strings.Join(moduleNames(frames), ", "))
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
func frameClass(f *analysis.Frame, blamed bool) string {
	var classes []string
	if blamed {
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
	if f.Inline {
		return " [inlined]"
	}
	return f.OffsetText()
}
