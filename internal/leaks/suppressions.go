package leaks

import (
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/suppressions"
)

// A SuppressedLeak is a leak of a project as its suppression needs it.
type SuppressedLeak struct {
	Signature, Title string
	State            State
	Reason           string   // why it is known; "" where nobody said
	Frames           []string // what the signature is made of, the one to blame first
}

// Suppressions writes the leaks of a project that are known as a file of suppressions. Its error is a *FieldError.
//
// A leak is left out, with the reason in a comment, where the form cannot name it, or where its suppression would hide
// an open leak too.
func Suppressions(project, form string, leaks []SuppressedLeak) (string, error) {
	f := suppressions.Form(form)
	if !slices.Contains(suppressions.Forms, f) {
		return "", wrongField("form", "%q is none of lsan, valgrind, drmemory", form)
	}
	var entries, left strings.Builder
	written, out := 0, 0
	for i := range leaks {
		l := &leaks[i]
		if l.State != StateKnown {
			continue
		}
		text, reason := suppressionOf(f, l, leaks)
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

// suppressionOf writes the suppression of one leak. reason says why there is none.
func suppressionOf(form suppressions.Form, l *SuppressedLeak, all []SuppressedLeak) (text, reason string) {
	s := suppressions.Suppression{Name: l.Signature}
	for _, name := range l.Frames {
		switch {
		case strings.Contains(name, blame.UnnamedFrame):
			return "", "no symbols: the address holds for one build"
		case isNoFunction(name):
			return "", "its tool gives no call stack, only file and size"
		}
		module, function, ok := strings.Cut(name, "!")
		if !ok {
			module, function = "", name
		} else {
			module += ".*" // signatures name modules without the extension, which the tools have
		}
		s.Frames = append(s.Frames, suppressions.Frame{Many: true}, suppressions.Frame{Module: module, Function: function})
	}
	if len(s.Frames) == 0 {
		return "", "no call stack"
	}
	if text, reason = suppressions.Write(form, &s); reason != "" {
		return "", reason
	}
	hidden := 0
	for i := range all {
		if slices.Contains(OpenStates, all[i].State) && hides(form, l.Frames, all[i].Frames) {
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

// hides reports whether the suppression of one leak hides another, as far as signatures tell.
func hides(form suppressions.Form, known, open []string) bool {
	if form == suppressions.LSan {
		_, function, ok := strings.Cut(known[0], "!")
		if !ok {
			function = known[0]
		}
		return slices.ContainsFunc(open, func(name string) bool { return strings.Contains(name, function) })
	}
	for _, name := range known {
		i := slices.Index(open, name)
		if i < 0 {
			return false
		}
		open = open[i+1:]
	}
	return true
}
