// Package licenses holds the licences of everything that may be in the program, in a file that tools/licenses writes:
//
//	==== github.com/a/b v1.0.0 LICENSE       what has the text that follows: name, version, file in its own folder
//	==== github.com/c/d v2.1.0 LICENSE       ("heapdrift" and "Go" have no version)
//
//	The text, which holds no line that begins with "==== ".
//
// Each text stands there once, behind the first that has it.
package licenses

import (
	"compress/gzip"
	_ "embed" // the file
	"fmt"
	"io"
	"runtime/debug"
	"strings"
)

// collected is licenses.txt, which people read; each CI job that fetches the client fetches it, too.
//
//go:embed licenses.txt.gz
var collected string

// Names of what is in every program.
const (
	Own = "heapdrift"
	Go  = "Go" // the standard library
)

// A Use names a part of the program and the file in which it has a text.
type Use struct {
	Name, Version string
	File          string // name of the file in the part's folder
}

// A Text is one licence or notice, with the parts that have it.
type Text struct {
	Uses []Use
	Text string // lines that end with \n, the last too
}

// Key names a part with its version: "github.com/a/b v1.0.0".
func (u Use) Key() string { return strings.TrimSpace(u.Name + " " + u.Version) }

// mark begins the line of a Use.
const mark = "==== "

// Collected returns the texts that tools/licenses collected.
func Collected() ([]Text, error) {
	r, err := gzip.NewReader(strings.NewReader(collected))
	if err != nil {
		return nil, fmt.Errorf("licenses: %w", err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("licenses: %w", err)
	}
	return Parse(string(text))
}

// Pack is the form of the file that is embedded.
func Pack(w io.Writer, text []byte) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(text); err != nil {
		return err
	}
	return z.Close()
}

// Parse reads the format of the package's comment.
func Parse(file string) ([]Text, error) {
	var texts []Text
	inText := true
	for number, line := range strings.SplitAfter(file, "\n") {
		use, isUse := strings.CutPrefix(line, mark)
		if !isUse {
			if len(texts) > 0 {
				texts[len(texts)-1].Text += line
			}
			inText = true
			continue
		}
		words := strings.Fields(use)
		var u Use
		switch len(words) {
		case 2:
			u = Use{words[0], "", words[1]}
		case 3:
			u = Use{words[0], words[1], words[2]}
		default:
			return nil, fmt.Errorf("licenses: line %d: %d words behind %q, want name, version and file",
				number+1, len(words), mark)
		}
		if inText {
			texts = append(texts, Text{})
		}
		inText = false
		last := &texts[len(texts)-1]
		last.Uses = append(last.Uses, u)
	}
	for i := range texts {
		texts[i].Text = strings.Trim(texts[i].Text, "\n") + "\n"
	}
	return texts, nil
}

// Write writes the format that Parse reads. It refuses texts that Parse would read otherwise.
func Write(w io.Writer, texts []Text) error {
	var b strings.Builder
	for i := range texts {
		for _, u := range texts[i].Uses {
			if n := len(strings.Fields(u.Key())); n > 2 || strings.ContainsAny(u.File, " \n") {
				return fmt.Errorf("licenses: a name, version or file with a space: %q", u)
			}
			b.WriteString(mark + u.Key() + " " + u.File + "\n")
		}
		if text := texts[i].Text; strings.HasPrefix(text, mark) || strings.Contains(text, "\n"+mark) {
			return fmt.Errorf("licenses: %s: %s has a line that begins with %q", texts[i].Uses[0].Key(),
				texts[i].Uses[0].File, mark)
		}
		b.WriteString("\n" + texts[i].Text + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Of selects the texts of a program built with these modules: theirs, and those of parts that every program has.
// missing are the keys of modules without a text.
func Of(texts []Text, modules []*debug.Module) (used []Text, missing []string) {
	linked, found := map[string]bool{}, map[string]bool{}
	for _, m := range modules {
		linked[ModuleKey(m)] = true
	}
	for _, t := range texts {
		kept := Text{Text: t.Text}
		for _, u := range t.Uses {
			if isModule := strings.HasPrefix(u.Version, "v"); isModule && !linked[u.Key()] {
				continue
			}
			found[u.Key()] = true
			kept.Uses = append(kept.Uses, u)
		}
		if len(kept.Uses) > 0 {
			used = append(used, kept)
		}
	}
	for _, m := range modules {
		if key := ModuleKey(m); !found[key] {
			missing = append(missing, key)
		}
	}
	return used, missing
}

// ModuleKey is the Key of a module, or of its replacement in go.mod.
func ModuleKey(m *debug.Module) string {
	if m.Replace != nil {
		m = m.Replace
	}
	return Use{Name: m.Path, Version: m.Version}.Key()
}
