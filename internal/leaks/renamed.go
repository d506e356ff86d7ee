package leaks

import (
	"slices"
	"strings"

	"heapdrift/internal/analysis"
)

// ByRename is the actor, in place of a person, where a signature became part of another because the function seems to
// have another name since a build.
const ByRename = "a function that was renamed"

// surelyRenamed is from which likeness on a leak that came when another went is that other one. Most of it is the
// callers; that blocks have one size and come as fast is the rest.
const surelyRenamed = 0.85

// A RenamedLeak is a leak that has another signature since the build of a run.
type RenamedLeak struct{ From, To string }

// hasSameCallers reports whether two signatures differ in the frame to blame alone, and are called by the same
// functions.
func hasSameCallers(a, b []string) bool {
	module := func(frame string) string { name, _, _ := strings.Cut(frame, "!"); return name }
	return len(a) > 1 && len(a) == len(b) && slices.Equal(a[1:], b[1:]) && module(a[0]) == module(b[0])
}

// RenamedLeaks are the leaks of a case that came with its build while another one like it went: certain leaks both, of
// which nothing tells that the new one was there before.
func RenamedLeaks(c *Case) []RenamedLeak {
	if c.Compared == nil || c.Named {
		return nil
	}
	leaking, frames := map[string]bool{}, map[string][]string{}
	for _, r := range c.Compared.Rows {
		frames[r.Either().Signature] = r.Either().Frames
		switch {
		case r.Base != nil && r.Head == nil && r.Base.Class == analysis.ClassLeak:
			leaking[r.Base.Signature] = true
		case r.Base == nil && r.Head != nil && r.Head.Class == analysis.ClassLeak && r.Head.Certain:
			o, known := c.Origins[r.Head.Signature]
			leaking[r.Head.Signature] = known && !o.Found && !o.Regressed && o.Since == c.Head.Build &&
				o.Told == ""
		}
	}
	var list []RenamedLeak
	for _, r := range c.Compared.Renames {
		if r.Likeness >= surelyRenamed && leaking[r.Base] && leaking[r.Head] &&
			hasSameCallers(frames[r.Base], frames[r.Head]) {
			list = append(list, RenamedLeak{r.Base, r.Head})
		}
	}
	return list
}
