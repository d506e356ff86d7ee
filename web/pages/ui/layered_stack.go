package ui

import (
	"slices"
	"strings"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
)

// A LayeredStack is a stack with the layer of each frame and the rule that gave it.
type LayeredStack struct {
	project string
	frames  []layeredFrame
}

type layeredFrame struct {
	*analysis.Frame
	used  bool // is in the signature
	blame bool
	// instead are rules that would blame this frame; "" for the one that is blamed, and where no rule could.
	instead string
}

// LayeredStackOf explains a stack, innermost frame first. signature are the normalised names that the signature is made
// of.
func LayeredStackOf(project string, stack []*analysis.Frame, signature []string) *LayeredStack {
	s := &LayeredStack{project: project}
	blamed := analysis.BlamedFrameIndex(stack)
	for i, f := range stack {
		name := ruleModule(f) + "!" + blame.NormalizeFunction(f.Function)
		s.frames = append(s.frames, layeredFrame{Frame: f, blame: i == blamed, used: f.Function != "" &&
			slices.Contains(signature, name), instead: blameInstead(stack, blamed, i)})
	}
	return s
}

// blameInstead proposes the rules after which frame i would be blamed: those between it and the present one, and that
// one itself, become plumbing, and the frame itself the team's own.
func blameInstead(stack []*analysis.Frame, blamed, i int) string {
	if blamed < 0 || i == blamed || stack[i].Function == "" || stack[i].Module == "" {
		return ""
	}
	switch stack[i].Layer {
	case blame.LayerTool, blame.LayerAllocator, blame.LayerHeapGrowth, blame.LayerBase: // every stack has them
		return ""
	}
	var lines []string
	add := func(f *analysis.Frame, action string) {
		line := "module:" + quoted(ruleModule(f)) + " function:" + quoted(blame.NormalizeFunction(f.Function)) + " -> " + action
		if f.Function != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	for k := blamed; k < i; k++ {
		if layer := stack[k].Layer; k == blamed || layer == blame.LayerApp {
			add(stack[k], "plumbing")
		}
	}
	if stack[i].Layer != blame.LayerApp {
		add(stack[i], "+app")
	}
	return strings.Join(lines, "\n")
}

// OwnerRule is the text of a rule that names the owner of a frame, with a gap to fill in.
func OwnerRule(b *analysis.Blame) string {
	return "module:" + quoted(blame.NormalizeModule(b.Module)) + " function:" + quoted(blame.NormalizeFunction(b.Function)) +
		" -> owner=NAME"
}

func ruleModule(f *analysis.Frame) string { return blame.NormalizeModule(f.Module) }

// quoted is a pattern as a rule has it; what would end it becomes a wildcard.
func quoted(pattern string) string {
	pattern = strings.ReplaceAll(pattern, `"`, "?")
	if strings.ContainsAny(pattern, " \t#") || pattern == "" {
		return `"` + pattern + `"`
	}
	return pattern
}

// part is what the frame is in the stack, and what it is to the signature.
func (f layeredFrame) part() string {
	switch text := LayerText(f.Layer); {
	case f.blame:
		return text + ", blamed"
	case f.used:
		return text + ", in the signature"
	default:
		return text
	}
}

// layerTexts are the layers in words.
var layerTexts = map[blame.Layer]string{
	blame.LayerTool: "instrumentation", blame.LayerAllocator: "allocator", blame.LayerHeapGrowth: "heap growth",
	blame.LayerPlumbing: "plumbing",
	blame.LayerBase:     "thread start", blame.LayerSystem: "system", blame.LayerThirdParty: "third party",
	blame.LayerApp: "your own",
}

// LayerText is a layer in words.
func LayerText(l blame.Layer) string {
	if text := layerTexts[l]; text != "" {
		return text
	}
	return OrDash(string(l))
}
