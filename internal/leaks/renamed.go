package leaks

import (
	"fmt"
	"slices"
	"strings"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// ByRename is the actor, in place of a person, where a signature became part of another because the function seems to
// have another name since a build.
const ByRename = "a function that was renamed"

// surelyRenamed is from which likeness on a leak that came when another went is that other one. Most of it is the
// callers; that blocks have one size and come as fast is the rest.
const surelyRenamed = 0.8

// A RenamedLeak is a leak that has another signature since the build of a run.
type RenamedLeak struct{ From, To string }

// hasSameCallers reports whether two signatures differ in the frame to blame alone, and are called by the same
// functions.
func hasSameCallers(a, b []string) bool {
	module := func(frame string) string { name, _, _ := strings.Cut(frame, "!"); return name }
	return len(a) > 1 && len(a) == len(b) && slices.Equal(a[1:], b[1:]) && module(a[0]) == module(b[0])
}

// MayBeRenamed are the findings of a case that may be another leak under a new name: certain leaks that came in, as far
// as is known, and for which no build has failed.
func MayBeRenamed(c *Case) []*compare.Finding {
	if c.Named {
		return nil
	}
	var list []*compare.Finding
	for i := range c.Head.Findings {
		f := &c.Head.Findings[i]
		o, known := c.Origins[f.Signature]
		if known && f.Class == analysis.ClassLeak && f.Certain && !o.Found && !o.Regressed && o.Told == "" {
			list = append(list, f)
		}
	}
	return list
}

// RenamedLeaks are the leaks of a case that came in where another one like it went.
func RenamedLeaks(c *Case) []RenamedLeak {
	var list []RenamedLeak
	for _, r := range c.likeGone() {
		if r.Likeness >= surelyRenamed {
			list = append(list, RenamedLeak{r.Base, r.Head})
		}
	}
	return list
}

// likeGone pairs what came in with leaks that are gone, have the same callers, and are like it.
func (c *Case) likeGone() []compare.Rename {
	var rows []compare.Row
	frames := map[string][]string{}
	for i := range c.Gone {
		if f := &c.Gone[i]; f.Class == analysis.ClassLeak {
			rows, frames[f.Signature] = append(rows, compare.Row{Base: f}), f.Frames
		}
	}
	if len(rows) == 0 {
		return nil
	}
	for _, f := range MayBeRenamed(c) {
		rows, frames[f.Signature] = append(rows, compare.Row{Head: f}), f.Frames
	}
	return slices.DeleteFunc(compare.Renames(rows), func(r compare.Rename) bool {
		return !hasSameCallers(frames[r.Base], frames[r.Head])
	})
}

// formerly says of a finding that fails the gate which leak it may be under another name; "" for none.
func (d *decider) formerly(f *compare.Finding) string {
	like := slices.IndexFunc(d.like, func(r compare.Rename) bool { return r.Head == f.Signature })
	if like < 0 {
		return ""
	}
	gone := slices.IndexFunc(d.Gone, func(g compare.Finding) bool { return g.Signature == d.like[like].Base })
	return fmt.Sprintf("; it may be %s, which is gone, under a new name: merge them if so", nameOf(&d.Gone[gone]))
}
