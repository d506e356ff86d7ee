package suppressions

import (
	"slices"
	"strings"
)

// lsan reads a line of LeakSanitizer.
func (p *parser) lsan(line string) {
	kind, pattern, ok := strings.Cut(line, ":")
	pattern = strings.TrimSpace(pattern)
	reason := ""
	switch {
	case !ok:
		reason = "not a suppression: LeakSanitizer's lines read leak:PATTERN, Valgrind's entries begin with {, Dr. Memory's with LEAK"
	case kind != "leak":
		reason = "not about leaks: only leak: lines are imported"
	case strings.Trim(pattern, "*^$") == "":
		reason = "the pattern would suppress every leak"
	case len(pattern) > maxPattern:
		reason = "the pattern has more than 4096 bytes"
	default:
		p.list = append(p.list, Suppression{Form: LSan, Line: p.line, Name: pattern, Pattern: wholePattern(pattern)})
		return
	}
	p.rejected = append(p.rejected, Rejection{p.line, line, reason})
}

const maxPattern = 4096

// wholePattern turns a pattern that matches anywhere into one that matches the whole name: * on each side that is not
// anchored.
func wholePattern(pattern string) string {
	if rest, ok := strings.CutPrefix(pattern, "^"); ok {
		pattern = rest
	} else {
		pattern = "*" + pattern
	}
	if rest, ok := strings.CutSuffix(pattern, "$"); ok {
		return rest
	}
	return pattern + "*"
}

// valgrind reads a line in the braces of Valgrind.
func (p *parser) valgrind(line string) {
	e := p.open
	switch {
	case line == "}":
		p.open = nil
		if e.kind == "" {
			e.fail("no line TOOL:KIND")
		}
		p.add(e)
	case line == "{":
		p.end()
		p.open = &entry{Suppression: Suppression{Form: Valgrind, Line: p.line}}
	case e.Name == "":
		e.Name = line
	case e.kind == "":
		e.kind = line
		if tools, kind, _ := strings.Cut(line, ":"); kind != "Leak" ||
			!slices.Contains(strings.Split(tools, ","), "Memcheck") {
			e.fail("not about leaks: only Memcheck:Leak is imported")
		}
	case e.reason != "":
	default:
		p.valgrindFrame(line)
	}
}

func (p *parser) valgrindFrame(line string) {
	e := p.open
	key, value, _ := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	switch {
	case line == "...":
		e.frame(Frame{Many: true})
	case key == "match-leak-kinds":
		if !hidesDefinite(value) {
			e.fail(line + ": a rule would suppress definite leaks of this stack as well")
		}
	case key == "obj" && value != "" && !strings.Contains(value, "!"):
		e.frame(Frame{Module: onlyGlob(value)})
	case key == "fun" && value != "":
		function, ok := sourceName(value)
		if !ok {
			e.fail(line + ": the mangled name has templates, operators or wildcards that cannot be translated; " +
				"write it as leak:NAMESPACE::FUNCTION of LeakSanitizer")
		}
		e.frame(Frame{Function: onlyGlob(function)})
	default:
		e.fail(line + ": not a frame that can be imported; write fun:, obj: or ...")
	}
}

// hidesDefinite reports whether a list of kinds of leaks has definite ones.
func hidesDefinite(kinds string) bool {
	for kind := range strings.SplitSeq(kinds, ",") {
		if kind = strings.TrimSpace(kind); kind == "definite" || kind == "all" {
			return true
		}
	}
	return false
}

// isFrameOfDrMemory reports whether a line belongs to the entry of Dr. Memory that it follows.
func isFrameOfDrMemory(line string) bool {
	return line == "..." || line == "*" || strings.Contains(line, "!") || strings.HasPrefix(line, "<") ||
		strings.HasPrefix(line, "name=") || strings.HasPrefix(line, "instruction=") || strings.HasPrefix(line, "system call ")
}

// drMemory reads a line of an entry of Dr. Memory, behind its first.
func (p *parser) drMemory(line string) {
	e := p.open
	name, isName := strings.CutPrefix(line, "name=")
	module, function, isFrame := strings.Cut(line, "!")
	switch {
	case isName:
		e.Name = strings.TrimSpace(name)
	case e.reason != "":
	case line == "...":
		e.frame(Frame{Many: true})
	case line == "*":
		e.frame(Frame{})
	case strings.HasPrefix(line, "<"):
		e.fail(line + ": an offset in a module holds for one build; write module!function")
	case !isFrame || module == "" || function == "" || strings.HasPrefix(line, "instruction="):
		e.fail(line + ": not a frame of a leak; write module!function")
	case function == "...":
		e.frame(Frame{Module: module, Many: true})
	case function == "?": // how Dr. Memory writes a function that it does not know
		e.frame(Frame{Module: module})
	default:
		e.frame(Frame{Module: module, Function: onlyGlob(function)})
	}
}

// onlyGlob is a glob, "" where it matches everything.
func onlyGlob(glob string) string {
	if strings.Trim(glob, "*") == "" {
		return ""
	}
	return glob
}
