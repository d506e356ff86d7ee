package outcome

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The parts of JUnit's XML that Jenkins, GitLab, Azure Pipelines and TeamCity read.
type (
	junitSuite struct {
		Name                             string
		Tests, Failures, Errors, Skipped int
		Timestamp                        string // ISO 8601, UTC, without a zone
		Time                             string // in seconds
		Properties                       [][2]string
		Cases                            []junitCase
	}
	junitCase struct {
		Class, Name string
		Time        string // in seconds
		Skipped     *junitSkipped
		Error       *junitMessage
		Failure     *junitMessage
		Out         string
	}
	junitMessage struct{ Type, Message, Text string }
	junitSkipped struct{ Message string }
)

// JUnit writes a suite with a case for the gate and one for each leak, or for all that are lost together. A leak that
// fails the gate is a failure, one that does not is skipped, with the reason, and one that is fixed has passed. A gate
// that does not decide is an error, and so is a leak that could fail it and is not decided: they must not look like a
// pass. Where the policy lets the gate pass all the same, such a leak is skipped. The time of the job is that of the
// gate.
func JUnit(w io.Writer, o *Outcome) error {
	s := junitSuite{Name: suiteName(o)}
	for _, p := range [][2]string{{"project", o.Project}, {"build", o.Build}, {"scenario", o.Scenario},
		{"baseline", o.Baseline}, {"commit", o.Commit}, {"gate", o.Gate},
		{"matters", o.Matters}, {"url", o.URL}, {"job", o.JobURL}} {
		if p[1] != "" {
			s.Properties = append(s.Properties, [2]string{p[0], xmlText(p[1])})
		}
	}
	gate := gateCase(o)
	if !o.Began.IsZero() {
		s.Timestamp = o.Began.UTC().Format("2006-01-02T15:04:05")
		s.Time = strconv.FormatFloat(o.Took.Seconds(), 'f', 3, 64)
		gate.Time = s.Time
	}
	s.Cases = append(s.Cases, gate)
	for _, row := range o.rows() {
		s.Cases = append(s.Cases, leakCase(o, row))
	}
	for i := range s.Cases {
		c := &s.Cases[i]
		s.Tests++
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	var text strings.Builder
	text.WriteString(xml.Header)
	s.root().write(&text, 0)
	text.WriteString("\n")
	if _, err := io.WriteString(w, text.String()); err != nil {
		return fmt.Errorf("export: write junit: %w", err)
	}
	return nil
}

func suiteName(o *Outcome) string {
	name := "heapdrift"
	for _, part := range []string{o.Project, o.Scenario} {
		if part != "" {
			name += " " + part
		}
	}
	return xmlText(name)
}

func gateCase(o *Outcome) junitCase {
	c := junitCase{Class: suiteName(o), Name: "gate"}
	text := strings.Join(append([]string{o.Sentence, o.Why, o.URL}, o.Problems...), "\n")
	m := &junitMessage{Type: cmp.Or(o.Code, o.Gate), Message: xmlText(cmp.Or(o.Why, o.Sentence)), Text: xmlText(text)}
	switch {
	case o.Gate == GateFailed:
		c.Failure = m
	case o.Gate != GatePassed:
		c.Error = m
	case len(o.Problems) > 0:
		m.Type = cmp.Or(o.Code, GateError)
		c.Error = m
	default:
		c.Out = xmlText(text)
	}
	return c
}

// leakCase is the case of leaks that count as one. The first stands for all where only one can be told.
func leakCase(o *Outcome, row []*Leak) junitCase {
	l := row[0]
	name, headline, says := cmp.Or(l.Title, l.Signature)+" ["+l.Signature+"]", l.Headline(), l.Text()
	if len(row) > 1 {
		name, headline, says = l.CauseGroup, l.changed().title+": "+l.CauseGroup, stacks(row)+", in the ratio "+l.Ratio
	}
	c := junitCase{Class: suiteName(o), Name: xmlText(name)}
	var texts []string
	for _, l := range row {
		if len(row) > 1 {
			texts = append(texts, cmp.Or(l.Title, l.Signature)+" ["+l.Signature+"]")
		}
		texts = append(texts, l.details())
	}
	text := xmlText(strings.Join(texts, "\n"))
	switch {
	case l.Fails:
		c.Failure = &junitMessage{l.Change, xmlText(headline + ": " + says), text}
	case l.Doubtful && o.Gate != GatePassed:
		c.Error = &junitMessage{GateInconclusive, xmlText(headline + " is not decided: " + says), text}
	case l.Change == ChangeFixed:
		c.Out = text
	default:
		c.Skipped = &junitSkipped{xmlText("fails no gate: " + l.Word() + ", " + says)}
		c.Out = text
	}
	return c
}

// details are all that is known of a leak, line by line.
func (l *Leak) details() string {
	lines := []string{l.Text()}
	for _, line := range []string{l.FileLine(), l.URL} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	for _, r := range l.Reasons {
		lines = append(lines, "- "+r)
	}
	for _, f := range l.Frames {
		lines = append(lines, "    at "+f)
	}
	return strings.Join(lines, "\n")
}

// xmlText drops what XML cannot hold. The encoder would put a mark in its place that looks like damage in the evidence.
func xmlText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' ||
			r >= ' ' && r != 0x7F && (r < 0x80 || r > 0x9F) && r != 0xFFFE && r != 0xFFFF && r != utf8.RuneError {
			return r
		}
		return -1
	}, s)
}
