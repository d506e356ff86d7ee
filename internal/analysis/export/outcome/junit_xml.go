package outcome

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// An element is one of XML. encoding/xml writes structs as well, by 20 KB of code more.
type element struct {
	name       string
	attributes [][2]string
	text       string
	children   []*element
}

// add appends a child, and returns it.
func (e *element) add(name string, attributes ...[2]string) *element {
	child := &element{name: name, attributes: attributes}
	e.children = append(e.children, child)
	return child
}

// write writes the element at a depth. b has no errors.
func (e *element) write(b *strings.Builder, depth int) {
	b.WriteString("<" + e.name)
	for _, a := range e.attributes {
		b.WriteString(" " + a[0] + `="`)
		_ = xml.EscapeText(b, []byte(a[1]))
		b.WriteString(`"`)
	}
	b.WriteString(">")
	_ = xml.EscapeText(b, []byte(e.text))
	for _, child := range e.children {
		b.WriteString("\n" + strings.Repeat("  ", depth+1))
		child.write(b, depth+1)
	}
	if len(e.children) > 0 {
		b.WriteString("\n" + strings.Repeat("  ", depth))
	}
	b.WriteString("</" + e.name + ">")
}

// root is the document, with the names of the schema of Jenkins' xunit plugin.
func (s *junitSuite) root() *element {
	number := func(name string, n int) [2]string { return [2]string{name, strconv.Itoa(n)} }
	tests, failures, errors := number("tests", s.Tests), number("failures", s.Failures), number("errors", s.Errors)
	all := &element{name: "testsuites", attributes: [][2]string{{"name", "heapdrift"}, tests, failures, errors}}
	suite := all.add("testsuite", [2]string{"name", s.Name}, tests, failures, errors, number("skipped", s.Skipped))
	for _, a := range [][2]string{{"timestamp", s.Timestamp}, {"time", s.Time}} {
		if a[1] != "" {
			suite.attributes = append(suite.attributes, a)
		}
	}
	if len(s.Properties) > 0 {
		properties := suite.add("properties")
		for _, p := range s.Properties {
			properties.add("property", [2]string{"name", p[0]}, [2]string{"value", p[1]})
		}
	}
	for i := range s.Cases {
		s.Cases[i].addTo(suite)
	}
	return all
}

func (c *junitCase) addTo(suite *element) {
	e := suite.add("testcase", [2]string{"classname", c.Class}, [2]string{"name", c.Name})
	if c.Time != "" {
		e.attributes = append(e.attributes, [2]string{"time", c.Time})
	}
	if c.Skipped != nil {
		e.add("skipped", [2]string{"message", c.Skipped.Message})
	}
	c.Error.addTo(e, "error")
	c.Failure.addTo(e, "failure")
	if c.Out != "" {
		e.add("system-out").text = c.Out
	}
}

func (m *junitMessage) addTo(e *element, name string) {
	if m != nil {
		e.add(name, [2]string{"type", m.Type}, [2]string{"message", m.Message}).text = m.Text
	}
}
