package blame

import (
	"strconv"
	"strings"
)

// Rules decide the layers of frames: those of a project first, then the built-in ones ("core"). They do not change once
// they are made, and may be used by several goroutines.
type Rules struct {
	layers     []*rule // that give a layer, in the order of the file
	attributes []*rule // that give an owner, a reason or a group, but for those with stack:

	frames map[string]*framePattern  // of stack: patterns, by their text
	stacks map[*framePattern][]*rule // with stack:, by the frame that chooses them
}

// DefaultRules returns the rules of a project that has none of its own.
func DefaultRules() *Rules { return &Rules{} }

// A rule is a line of a project's file.
type rule struct {
	line int
	id   string // project/LINE

	// The zero glob is not asked for. A frame's pattern is kept twice, for functions and for the names of files.
	module, function, path, frame, frameFile glob
	origin                                   Layer
	stack                                    stackPattern

	layer Layer // "" for none
	owner string
	known string
	group string
}

// A subject is a frame as rules look at it.
type subject struct {
	frame    *Frame
	module   *moduleName
	function string // normalised
	origin   Layer
}

func ruleID(line int) string { return "project/" + strconv.Itoa(line) }

// matches reports whether all conditions of the rule hold of the frame.
func (r *rule) matches(s *subject) bool {
	if r.origin != "" && r.origin != s.origin {
		return false
	}
	if r.module.pattern != "" && !s.inModule(r.module) {
		return false
	}
	if r.path.pattern != "" && !s.onPath(r.path) {
		return false
	}
	if r.function.pattern != "" && !s.isFunction(r.function) {
		return false
	}
	return r.frame.pattern == "" || s.isFrame(r.frame, r.frameFile)
}

func (s *subject) inModule(g glob) bool {
	m := s.frame.Module
	return m != nil && (g.match(s.module.lower) || g.match(m.Name) || m.Path != "" && g.match(fileName(m.Path)))
}

// onPath looks at the module's path and at the source file's, in either kind of slashes.
func (s *subject) onPath(g glob) bool {
	return s.frame.Module != nil && s.frame.Module.Path != "" && g.match(backslashes(s.frame.Module.Path)) ||
		s.frame.File != "" && g.match(backslashes(s.frame.File))
}

// isFunction looks at the name as the evidence spells it, and as signatures do.
func (s *subject) isFunction(g glob) bool {
	return s.frame.Function != "" && (g.match(s.frame.Function) || g.match(s.function))
}

// isFrame looks at function, module and source file, as the suppressions of LeakSanitizer do.
func (s *subject) isFrame(function, file glob) bool {
	return s.isFunction(function) || s.inModule(file) || s.onPath(file)
}

func backslashes(path string) string { return strings.ReplaceAll(path, "/", `\`) }

func fileName(path string) string { return path[strings.LastIndexAny(path, `\/`)+1:] }

// layerOf is the first rule that gives the frame a layer; nil for none.
func (r *Rules) layerOf(s *subject) *rule {
	for _, rule := range r.layers {
		if rule.matches(s) {
			return rule
		}
	}
	return nil
}

// mark gives the class what the rule says beyond the origin.
func (r *rule) mark(c *Decision) {
	mark := Mark{r.layer, r.id}
	switch r.layer {
	case LayerTool, LayerPlumbing:
		c.Inner, c.Between = mark, mark
	case LayerAllocator:
		c.Inner = mark
	case LayerBase:
		c.Outer = mark
	}
}

// HasAttributes reports whether the rules give stacks more than layers: an owner, a reason or a group. No rules give
// nothing.
func (r *Rules) HasAttributes() bool { return r != nil && len(r.attributes)+len(r.stacks) > 0 }

// isAnywhere reports whether the rule is about the whole stack.
func (r *rule) isAnywhere() bool { return r.frame.pattern != "" || r.stack != nil }
