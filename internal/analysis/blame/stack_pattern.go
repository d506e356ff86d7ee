package blame

import (
	"slices"
	"strings"
)

// maxStackPattern is how many frames a stack: pattern may have: a set of positions in it is one word.
const maxStackPattern = 63

// frameSeparator stands between the frames of a stack: pattern.
const frameSeparator = " < "

// manyFrames is the frame of a stack: pattern that stands for any number of frames.
const manyFrames = "..."

// A framePattern is one frame of a stack: pattern. The zero glob is not asked for.
type framePattern struct {
	text                   string
	module, path, function glob
	many                   bool // any number of frames; with a module, one or more of it
}

// A stackPattern is the frames of stack:, innermost first. They are matched from the first frame of a stack or any
// other of its allocator's run: which frames of the allocator evidence has depends on the tool. Frames further out are
// not looked at, as in the suppressions of Valgrind and Dr. Memory.
type stackPattern []*framePattern

// parseStackPattern splits the value of stack:. reason says what is wrong with it; "" for nothing.
func parseStackPattern(value string) (p stackPattern, reason string) {
	chosen := false
	for text := range strings.SplitSeq(value, frameSeparator) {
		f := parseFramePattern(strings.TrimSpace(text))
		if f == nil {
			return nil, "an empty frame; write it like this: stack:\"app!Cache::Put < ... < app!main\""
		}
		p = append(p, f)
		chosen = chosen || f.chooses()
	}
	switch {
	case len(p) > maxStackPattern:
		return nil, "more than 63 frames; write ... for those between"
	case !chosen:
		return nil, "matches every stack; name a module or function"
	}
	return p, ""
}

func parseFramePattern(text string) *framePattern {
	module, function, ok := strings.Cut(text, "!")
	if !ok {
		module, function = "", text
	}
	switch {
	case text == manyFrames:
		return &framePattern{text: text, many: true}
	case function == "" || ok && module == "":
		return nil
	}
	f := &framePattern{text: text}
	if function == manyFrames {
		f.many = true
	} else if function != "*" {
		f.function = newGlob(function, false)
	}
	switch {
	case strings.ContainsAny(module, `/\`):
		f.path = newGlob(backslashes(module), true)
	case ok:
		f.module = newGlob(module, true)
	}
	return f
}

// chooses reports whether the pattern does not match each frame of a module.
func (f *framePattern) chooses() bool {
	return f.path.pattern != "" || strings.Trim(f.module.pattern, "*") != "" || strings.Trim(f.function.pattern, "*") != ""
}

// isAny reports whether the pattern is for any number of frames of any sort.
func (f *framePattern) isAny() bool { return f.many && f.module.pattern == "" && f.path.pattern == "" }

func (f *framePattern) matches(s *subject) bool {
	if f.module.pattern != "" && !s.inModule(f.module) {
		return false
	}
	if f.path.pattern != "" && (s.frame.Module == nil || !f.path.match(backslashes(s.frame.Module.Path))) {
		return false
	}
	return f.function.pattern == "" || s.isFunction(f.function)
}

// addStack registers a rule with a stack: condition under the first of its frames that chooses.
func (r *Rules) addStack(made *rule) {
	if r.frames == nil {
		r.frames = map[string]*framePattern{}
		r.stacks = map[*framePattern][]*rule{}
	}
	for i, f := range made.stack {
		if known := r.frames[f.text]; known != nil { // equal frames are matched once
			made.stack[i] = known
		} else {
			r.frames[f.text] = f
		}
	}
	key := made.stack[slices.IndexFunc(made.stack, (*framePattern).chooses)]
	r.stacks[key] = append(r.stacks[key], made)
}

// framesOf lists the frames of stack: patterns that a frame fulfils, and the rules that may match its stacks.
func (r *Rules) framesOf(s *subject) (patterns []*framePattern, rules []*rule) {
	for _, f := range r.frames {
		if !f.isAny() && f.matches(s) {
			patterns = append(patterns, f)
			rules = append(rules, r.stacks[f]...)
		}
	}
	return patterns, rules
}

// matches reports whether the pattern matches a stack from one of its first frames on: those up to last.
func (p stackPattern) matches(stack []*Class, last int) bool {
	const one = uint64(1)
	end := one << len(p)
	at := uint64(0) // bit k: the first k frames of the pattern are matched
	for i, c := range stack {
		if i <= last {
			at |= p.withNone(one)
		}
		next := uint64(0)
		for k, f := range p {
			switch {
			case at&(one<<k) == 0:
			case f.isAny():
				next |= one << k
			case !slices.Contains(c.frames, f):
			case f.many:
				next |= 3 << k
			default:
				next |= one << (k + 1)
			}
		}
		at = p.withNone(next)
		if at&end != 0 {
			return true
		}
	}
	return false
}

// withNone adds the positions behind each "...", which may stand for no frame.
func (p stackPattern) withNone(at uint64) uint64 {
	for k, f := range p {
		if f.isAny() && at&(1<<k) != 0 {
			at |= 1 << (k + 1)
		}
	}
	return at
}

// stackRules lists the rules with a stack: condition that the stack fulfils, in the order of the file.
func (p MarkedStack) stackRules(stack []*Class) []*rule {
	var list []*rule
	for _, c := range stack {
		for _, r := range c.stackRules {
			if !slices.Contains(list, r) && r.stack.matches(stack, p.Origin) {
				list = append(list, r)
			}
		}
	}
	slices.SortFunc(list, func(a, b *rule) int { return a.line - b.line })
	return list
}
