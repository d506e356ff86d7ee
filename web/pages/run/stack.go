package run

import (
	"fmt"
	"slices"
	"strings"

	"heapdrift/internal/analysis"
	"heapdrift/web/pages/ui"
)

// A stackView is a stack in the three parts that it is read in.
type stackView struct {
	allocator []*analysis.Frame // folded
	own       []*analysis.Frame // the first one is to blame
	start     []*analysis.Frame // folded
}

func viewOfStack(stack []*analysis.Frame) stackView {
	blame := max(0, analysis.BlameFrame(stack))
	end := len(stack)
	for end > blame+1 && stack[end-1].Layer == analysis.LayerBase {
		end--
	}
	return stackView{stack[:blame], stack[blame:end], stack[end:]}
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
	return fmt.Sprintf("%s · %s", ui.Counted(len(frames), "allocator frame"), strings.Join(names, ", "))
}

func foldedStart(frames []*analysis.Frame) string {
	return fmt.Sprintf("%s · %s", ui.Counted(len(frames), "thread start frame"), strings.Join(moduleNames(frames), ", "))
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

// umdhText prints a site as UMDH prints a difference between the first and the last snapshot: what is known has the
// places it has there, so that scripts which read UMDH's text read this too.
func (v siteView) umdhText() string {
	var b strings.Builder
	id := "0"
	if len(v.Traces) > 0 {
		id = v.Traces[0]
	}
	growth, growthCount := v.Bytes, v.Count
	if v.GrowthBytes != nil && v.GrowthCount != nil {
		growth, growthCount = *v.GrowthBytes, *v.GrowthCount
	}
	fmt.Fprintf(&b, "%s %7x ( %6x - %6x) %6x allocs\tBackTrace%s\n", umdhSign(growth), magnitude(growth), v.Bytes, v.Bytes-growth, v.Count, id)
	fmt.Fprintf(&b, "%s %7x ( %6x - %6x)\tBackTrace%s\tallocations\n\n", umdhSign(growthCount), magnitude(growthCount), v.Count, v.Count-growthCount, id)
	for i, stack := range v.stacks {
		if i > 0 {
			b.WriteString("\tAlias\n")
		}
		for _, f := range stack {
			b.WriteString("\t" + umdhFrame(f) + "\n")
		}
	}
	return b.String()
}

func umdhSign(n int64) string {
	if n < 0 {
		return "-"
	}
	return "+"
}

func magnitude(n int64) int64 { return max(n, -n) }

// umdhFrame prints a frame: offsets in upper-case hex without 0x, and ??? for a name that is not known.
func umdhFrame(f *analysis.Frame) string {
	offset := strings.ToUpper(strings.TrimPrefix(f.Offset, "0x"))
	if f.Function == "" {
		if f.Module == "" {
			return strings.ToUpper(strings.TrimPrefix(f.Address, "0x"))
		}
		return f.Module + "!???+" + offset
	}
	text := f.Module + "!" + f.Function
	if !f.Inline && offset != "" {
		text += "+" + offset
	}
	if f.File != "" {
		text += fmt.Sprintf(" (%s, %d)", f.File, f.Line)
	}
	return text
}
