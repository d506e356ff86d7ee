package analysis

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Schema1 is the layout that came before Schema: each site held its frames. ReadJSON converts it.
const Schema1 = "heapdrift.report/v1"

// ReadJSON reads what WriteJSON wrote, in this version or in the one before.
func ReadJSON(r io.Reader) (*Report, error) {
	d := json.NewDecoder(r)
	in := reportReader{report: &Report{Stacks: newStacks()}, fields: map[string]json.RawMessage{}, early: map[string]json.RawMessage{}}
	if err := in.read(d); err != nil {
		return nil, fmt.Errorf("analysis: read report: %w", err)
	}
	return in.report, nil
}

// A reportReader reads a report field by field.
type reportReader struct {
	report *Report
	schema string
	fields map[string]json.RawMessage // but for the lists of listFields
	early  map[string]json.RawMessage // lists that came before what they are read by: a database keeps no order of fields
}

// listFields are the long lists, each of which is read row by row, by those before it.
var listFields = []string{"frames", "stacks", "sites"}

func (in *reportReader) read(d *json.Decoder) error {
	if t, err := d.Token(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return fmt.Errorf("it begins with %v, want an object", t)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		if err := in.field(d, fmt.Sprint(name)); err != nil {
			return fmt.Errorf("field %v: %w", name, err)
		}
	}
	if _, err := d.Token(); err != nil { // }
		return err
	}
	if in.schema != Schema && in.schema != Schema1 {
		return fmt.Errorf("schema %q, want %q", in.schema, Schema)
	}
	for _, name := range listFields {
		if text, ok := in.early[name]; ok {
			if err := in.list(json.NewDecoder(bytes.NewReader(text)), name); err != nil {
				return fmt.Errorf("field %s: %w", name, err)
			}
		}
	}
	head, err := json.Marshal(in.fields)
	if err != nil {
		return err
	}
	if in.schema == Schema1 {
		err = in.headV1(head)
	} else {
		err = json.Unmarshal(head, in.report)
	}
	if err != nil {
		return err
	}
	in.report.Schema = Schema
	return in.check()
}

func (in *reportReader) field(d *json.Decoder, name string) error {
	if name == "schema" {
		return d.Decode(&in.schema)
	}
	fields := in.fields
	if slices.Contains(listFields, name) {
		if in.schema != "" && (name != "stacks" || in.report.Stacks.FrameCount() > 0) {
			return in.list(d, name)
		}
		fields = in.early
	}
	var value json.RawMessage
	err := d.Decode(&value)
	fields[name] = value
	return err
}

// list reads one of listFields.
func (in *reportReader) list(d *json.Decoder, name string) error {
	row := in.site
	switch {
	case name == "frames":
		row = in.frame
	case name == "stacks":
		row = in.stack
	case in.schema == Schema1:
		row = in.siteV1
	}
	if name == "sites" {
		in.report.Sites = []Site{}
	}
	return each(d, func() error { return row(d) })
}

// each reads a list, or null.
func each(d *json.Decoder, one func() error) error {
	t, err := d.Token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		return fmt.Errorf("%v where a list begins", t)
	}
	for n := 0; d.More(); n++ {
		if err := one(); err != nil {
			return fmt.Errorf("row %d: %w", n, err)
		}
	}
	_, err = d.Token() // ]
	return err
}

// frame reads one of the frames, which are numbered as they come, even where two are equal.
func (in *reportReader) frame(d *json.Decoder) error {
	var f Frame
	if err := d.Decode(&f); err != nil {
		return err
	}
	row, err := in.report.Stacks.row(&f)
	if err != nil {
		return err
	}
	in.report.Stacks.appendRow(row)
	return nil
}

func (in *reportReader) stack(d *json.Decoder) error {
	var numbers []uint32
	if err := d.Decode(&numbers); err != nil {
		return err
	}
	s := in.report.Stacks
	for _, n := range numbers {
		if int(n) >= s.FrameCount() {
			return fmt.Errorf("there is no frame %d", n)
		}
	}
	if len(numbers) == 0 {
		return errors.New("the stack is empty")
	}
	s.appendStack(numbers)
	return nil
}

func (in *reportReader) site(d *json.Decoder) error {
	var site Site
	if err := d.Decode(&site); err != nil {
		return err
	}
	in.report.Sites = append(in.report.Sites, site)
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

// The shapes of the layout before, which held frames where this one names stacks.
type (
	siteV1 struct {
		Site
		Stack   []*Frame   `json:"stack"`
		Aliases [][]*Frame `json:"aliases"`
	}
	sampleV1 struct {
		Sample
		Stack []*Frame `json:"stack"`
	}
	claimV1 struct {
		Claim
		Stack   []*Frame   `json:"stack"`
		Samples []sampleV1 `json:"samples"`
	}
	memoryV1 struct {
		Memory
		Claims  []claimV1  `json:"claims"`
		Samples []sampleV1 `json:"samples"`
	}
	reportedV1 struct {
		Reported
		Stack []*Frame `json:"stack"`
	}
	reportV1 struct {
		Report
		Memory   []memoryV1   `json:"memory"`
		Reported []reportedV1 `json:"reported_leaks"`
	}
)

func (in *reportReader) siteV1(d *json.Decoder) error {
	var v siteV1
	if err := d.Decode(&v); err != nil {
		return err
	}
	var err error
	if v.Site.Stack, err = in.report.Stacks.Add(v.Stack); err != nil {
		return err
	}
	for _, frames := range v.Aliases {
		ref, err := in.report.Stacks.Add(frames)
		if err != nil {
			return err
		}
		v.Site.Aliases = append(v.Site.Aliases, ref)
	}
	in.report.Sites = append(in.report.Sites, v.Site)
	return nil
}

func (in *reportReader) headV1(text []byte) error {
	var v reportV1
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	stacks, sites := in.report.Stacks, in.report.Sites
	*in.report = v.Report
	in.report.Stacks, in.report.Sites = stacks, sites
	var err error
	add := func(frames []*Frame) StackRef {
		ref, failed := stacks.Add(frames)
		err = errors.Join(err, failed)
		return ref
	}
	samples := func(list []sampleV1) (out []Sample) {
		for _, s := range list {
			s.Sample.Stack = add(s.Stack)
			out = append(out, s.Sample)
		}
		return out
	}
	for _, m := range v.Memory {
		m.Memory.Samples = samples(m.Samples)
		for _, c := range m.Claims {
			c.Claim.Stack, c.Claim.Samples = add(c.Stack), samples(c.Samples)
			m.Memory.Claims = append(m.Memory.Claims, c.Claim)
		}
		in.report.Memory = append(in.report.Memory, m.Memory)
	}
	for _, l := range v.Reported {
		l.Reported.Stack = add(l.Stack)
		in.report.Reported = append(in.report.Reported, l.Reported)
	}
	return err
}
