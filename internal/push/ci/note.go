package ci

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
)

// A Level says how grave a note is.
type Level string

// The levels.
const (
	LevelError   Level = "error"
	LevelWarning Level = "warning"
)

// A Note is something to say about a line of the sources, or about the job.
type Note struct {
	Level       Level
	Code        string // stable, short
	Identity    string // stays the same over builds, such as a signature
	Title, Text string
	File        string // from the root of the sources, with slashes; "" where it is about no line
	Line        int
}

// A Summary is the outcome of a job.
type Summary struct {
	Markdown string
	Sentence string
	Failed   bool
	Outputs  []Value // for later steps of the job
	Counts   []Count
}

// A Value is a named text for later steps of the job.
type Value struct{ Name, Text string }

// A Count is a number that a system can chart over builds.
type Count struct {
	Name string
	N    int64
}

// maxNotes is how many notes of one level a job carries; systems drop what is more.
const maxNotes = 10

// Annotate attaches notes to the job. Without a system nothing is written.
func (s *System) Annotate(w io.Writer, notes []Note) error {
	if s == nil || s.annotate == nil {
		return nil
	}
	written := map[Level]int{}
	for _, n := range notes {
		if written[n.Level]++; written[n.Level] > maxNotes {
			continue
		}
		n.Title, n.Text = oneLine(n.Title), oneLine(n.Text)
		if _, err := fmt.Fprintln(w, s.annotate(n)); err != nil {
			return fmt.Errorf("annotate: %w", err)
		}
	}
	return nil
}

// Summarize tells the system the outcome.
func (s *System) Summarize(w io.Writer, get Getenv, sum *Summary) error {
	if s == nil || s.summarize == nil {
		return nil
	}
	lines, err := s.summarize(get, sum)
	for _, line := range lines {
		if _, failed := fmt.Fprintln(w, line); failed != nil {
			return errors.Join(err, fmt.Errorf("summary: %w", failed))
		}
	}
	return err
}

// Fold writes what write does as a section that can be folded away, where the system has such.
func (s *System) Fold(w io.Writer, id, title string, write func()) {
	if s == nil || s.open == nil {
		write()
		return
	}
	fmt.Fprintln(w, s.open(id, title, time.Now().Unix()))
	write()
	fmt.Fprintln(w, s.close(id, title, time.Now().Unix()))
}

// Plain makes a text safe to print in the log of any system: names in evidence come from outside, and must neither
// steer a terminal nor be taken for a command of the job.
func Plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if r != '\t' && (unicode.IsControl(r) || r == '\u2028' || r == '\u2029') {
			return -1
		}
		return r
	}, text)
	text = strings.NewReplacer("##vso[", "## vso[", "##teamcity[", "## teamcity[", "##[", "## [").Replace(text)
	if strings.HasPrefix(strings.TrimSpace(text), "::") {
		text = strings.Replace(text, "::", ": :", 1)
	}
	return text
}

// appendTo adds text to a file that the environment names.
func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("summary: %w", err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("summary: %w", err)
	}
	return nil
}

// oneLine joins the lines of a text.
func oneLine(text string) string { return strings.Join(strings.Fields(Plain(text)), " ") }
