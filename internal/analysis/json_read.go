package analysis

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ReadJSON reads what WriteJSON wrote, in this version or in the one before.
func ReadJSON(r io.Reader) (*Report, error) {
	in := reportReader{report: &Report{Stacks: newStacks()}, head: []byte{'{'}, early: map[string][]byte{}}
	if err := in.read(&jsonText{r: r}); err != nil {
		return nil, fmt.Errorf("analysis: read report: %w", err)
	}
	return in.report, nil
}

// A reportReader reads a report field by field.
type reportReader struct {
	report *Report
	schema string
	head   []byte            // the object of all fields but listFields, not ended
	early  map[string][]byte // lists that came before what they are read by: a database keeps no order of fields
}

// listFields are the long lists, each of which is read row by row; frames before stacks.
var listFields = []string{"findings", "frames", "stacks", "sites"}

func (in *reportReader) read(j *jsonText) error {
	if c, err := j.peek(); errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF // where nothing is, nothing ends too early
	} else if err == nil && c != '{' {
		return fmt.Errorf("it begins with %q, want an object", c)
	} else if err != nil {
		return err
	}
	j.at++
	for n := 0; ; n++ {
		more, err := j.another(n, '}')
		if err != nil {
			return err
		}
		if !more {
			break
		}
		name, err := j.name()
		if err != nil {
			return err
		}
		if err := in.field(j, name); err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
	}
	if in.schema != Schema && in.schema != Schema1 {
		return fmt.Errorf("schema %q, want %q", in.schema, Schema)
	}
	for _, name := range listFields {
		if text, ok := in.early[name]; ok {
			if err := in.list(&jsonText{r: bytes.NewReader(text)}, name); err != nil {
				return fmt.Errorf("field %s: %w", name, err)
			}
		}
	}
	var err error
	if in.head = append(in.head, '}'); in.schema == Schema1 {
		err = in.headV1(in.head)
	} else {
		err = json.Unmarshal(in.head, in.report)
	}
	if err != nil {
		return err
	}
	in.report.Schema = Schema
	return in.check()
}

func (in *reportReader) field(j *jsonText, name string) error {
	isList := slices.Contains(listFields, name)
	if isList && in.schema != "" && (name != "stacks" || in.report.Stacks.FrameCount() > 0) {
		return in.list(j, name)
	}
	value, err := j.value()
	switch {
	case err != nil:
		return err
	case name == "schema":
		return json.Unmarshal(value, &in.schema)
	case isList:
		in.early[name] = bytes.Clone(value)
		return nil
	}
	if len(in.head) > 1 {
		in.head = append(in.head, ',')
	}
	in.head = append(append(append(in.head, quote(name)...), ':'), value...)
	return nil
}

// list reads one of listFields.
func (in *reportReader) list(j *jsonText, name string) error {
	switch name {
	case "findings":
		in.report.Findings = []Finding{}
		return rowsOf(j, decodeJSON, func(f *Finding) error {
			in.report.Findings = append(in.report.Findings, *f)
			return nil
		})
	case "frames":
		return rowsOf(j, decodeFrame, in.addFrame)
	case "stacks":
		return rowsOf(j, decodeStack, in.addStack)
	}
	in.report.Sites = []Site{}
	if in.schema == Schema1 {
		return rowsOf(j, decodeJSON, in.addSiteV1)
	}
	return rowsOf(j, decodeSite, func(s *Site) error {
		in.report.Sites = append(in.report.Sites, *s)
		return nil
	})
}

func decodeJSON[T any](_ *rowText, text []byte, row *T) error { return json.Unmarshal(text, row) }

// addFrame adds one of the frames, which are numbered as they come, even where two are equal.
func (in *reportReader) addFrame(f *Frame) error {
	row, err := in.report.Stacks.row(f)
	if err != nil {
		return err
	}
	in.report.Stacks.appendRow(row)
	return nil
}

func (in *reportReader) addStack(numbers *[]uint32) error {
	s := in.report.Stacks
	for _, n := range *numbers {
		if int(n) >= s.FrameCount() {
			return fmt.Errorf("there is no frame %d", n)
		}
	}
	if len(*numbers) == 0 {
		return errors.New("the stack is empty")
	}
	s.appendStack(*numbers)
	return nil
}

// check looks for names of stacks that there are not.
func (in *reportReader) check() error {
	for _, ref := range in.report.stackRefs() {
		if int(*ref) > in.report.Stacks.Count() {
			return fmt.Errorf("there is no stack %d", *ref-1)
		}
	}
	return nil
}
