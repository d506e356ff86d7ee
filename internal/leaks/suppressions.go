package leaks

import (
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/suppressions"
)

// A SuppressedLeak has what the suppression of a leak needs.
type SuppressedLeak struct {
	Signature, Title string
	State            State
	Reason           string   // why it is known; "" where nobody said
	Frames           []string // names that the signature is made of, the blamed frame first
}

// Suppressions writes the known leaks of a project as a file of suppressions; form is the tool that reads it. Its error
// is a *FieldError. A leak is left out, with the reason in a comment, where the form cannot name it, or where its
// suppression would hide an open leak too.
func Suppressions(project, form string, leaks []SuppressedLeak) (string, error) {
	f := suppressions.Form(form)
	if !slices.Contains(suppressions.Forms, f) {
		return "", wrongField("form", "%q is none of lsan, valgrind, drmemory", form)
	}
	var entries, left strings.Builder
	open := openNames(f, leaks)
	written, out := 0, 0
	for i := range leaks {
		l := &leaks[i]
		if l.State != StateKnown {
			continue
		}
		text, reason := suppressionOf(f, l, open)
		if reason != "" {
			out++
			left.WriteString(suppressions.Comment(fmt.Sprintf("%s %s: %s", l.Signature, l.Title, reason)))
			continue
		}
		written++
		entries.WriteString("\n" + suppressions.Comment(l.Signature+" "+l.Title))
		if l.Reason != "" {
			entries.WriteString(suppressions.Comment("known: " + l.Reason))
		}
		entries.WriteString(text)
	}
	head := suppressions.Comment(fmt.Sprintf("%s of project %s, for %s", quantity.Plural(written, "known leak"), project,
		f.Tool()))
	if out > 0 {
		head += suppressions.Comment(quantity.Plural(out, "known leak")+" left out:") + left.String()
	}
	return head + entries.String(), nil
}

// openNames are the functions of each open leak, as a form has them.
func openNames(form suppressions.Form, all []SuppressedLeak) (open [][]suppressions.Name) {
	for i := range all {
		if !slices.Contains(OpenStates, all[i].State) {
			continue
		}
		names := make([]suppressions.Name, len(all[i].Frames))
		for k, name := range all[i].Frames {
			names[k] = suppressions.NewName(form, frameOf(name))
		}
		open = append(open, names)
	}
	return open
}

// suppressionOf writes the suppression of one leak. reason says why there is none.
func suppressionOf(form suppressions.Form, l *SuppressedLeak, open [][]suppressions.Name) (text, reason string) {
	s := suppressions.Suppression{Name: l.Signature}
	var written []suppressions.Frame
	for _, name := range l.Frames {
		switch {
		case strings.Contains(name, blame.UnnamedFrame):
			return "", "no symbols: the address holds for one build"
		case isNoFunction(name):
			return "", "its tool gives no call stack, only file and size"
		}
		f := frameOf(name)
		if f.Module != "" {
			f.Module += ".*" // signatures name modules without the extension, which the tools have
		}
		s.Frames = append(s.Frames, suppressions.Frame{Many: true}, f)
		written = append(written, f)
	}
	if len(s.Frames) == 0 {
		return "", "no call stack"
	}
	if form == suppressions.LSan { // it has one frame
		written = written[:1]
	}
	patterns := make([]suppressions.Pattern, len(written))
	for i, f := range written {
		if sign := suppressions.ReadsAsGlob(form, f.Function); sign != "" {
			return "", fmt.Sprintf("%s reads the %s in %s as a wildcard or an end", form.Tool(), sign, f.Function)
		}
		patterns[i] = suppressions.NewPattern(form, f)
	}
	if text, reason = suppressions.Write(form, &s); reason != "" {
		return "", reason
	}
	hidden := 0
	for _, names := range open {
		if hides(patterns, names) {
			hidden++
		}
	}
	if hidden > 0 {
		return "", "it would also hide " + quantity.Plural(hidden, "open leak")
	}
	return text, ""
}

// isNoFunction reports whether a name stands in the place of a function for blocks without a call stack. Functions have
// no single colon.
func isNoFunction(name string) bool {
	return strings.Contains(strings.ReplaceAll(name, "::", ""), ":")
}

// frameOf takes a name of a signature apart.
func frameOf(name string) suppressions.Frame {
	module, function, ok := strings.Cut(name, "!")
	if !ok {
		return suppressions.Frame{Function: name}
	}
	return suppressions.Frame{Module: module, Function: function}
}

// hides reports whether a suppression of these patterns, with any frames between, hides a leak, as far as its signature
// tells.
func hides(patterns []suppressions.Pattern, names []suppressions.Name) bool {
	for k := range patterns {
		i := 0
		for i < len(names) && !patterns[k].Covers(&names[i]) {
			i++
		}
		if i == len(names) {
			return false
		}
		names = names[i+1:]
	}
	return true
}
