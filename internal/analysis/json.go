package analysis

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// WriteJSON writes a report as one JSON document in the layout of Schema, site by site, so that memory does not
// grow with the number of sites.
func (r *Report) WriteJSON(w io.Writer) error {
	head := *r
	head.Sites = nil
	text, err := json.Marshal(&head)
	if err != nil {
		return fmt.Errorf("analysis: write report: %w", err)
	}
	const end = `null}` // of "sites", the last field
	out := bufio.NewWriterSize(w, 64<<10)
	_, _ = out.Write(bytes.TrimSuffix(text, []byte(end))) // bufio keeps the error for Flush
	_ = out.WriteByte('[')
	for i := range r.Sites {
		if i > 0 {
			_, _ = out.WriteString(",\n")
		}
		text, err := json.Marshal(&r.Sites[i])
		if err != nil {
			return fmt.Errorf("analysis: write report: site %d: %w", i, err)
		}
		_, _ = out.Write(text)
	}
	_, _ = out.WriteString("]}\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("analysis: write report: %w", err)
	}
	return nil
}

// ReadJSON reads what WriteJSON wrote. Equal frames share memory.
func ReadJSON(r io.Reader) (*Report, error) {
	d := json.NewDecoder(r)
	report, fields := &Report{}, map[string]json.RawMessage{}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("analysis: read report: %w", err)
	}
	shared := map[Frame]*Frame{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("analysis: read report: %w", err)
		}
		if name == "sites" {
			if err := report.readSites(d, shared); err != nil {
				return nil, err
			}
			continue
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("analysis: read report: field %v: %w", name, err)
		}
		fields[fmt.Sprint(name)] = value
	}
	head, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("analysis: read report: %w", err)
	}
	if err := json.Unmarshal(head, report); err != nil {
		return nil, fmt.Errorf("analysis: read report: %w", err)
	}
	if report.Schema != Schema {
		return nil, fmt.Errorf("analysis: read report: schema %q, want %q", report.Schema, Schema)
	}
	return report, nil
}

func (r *Report) readSites(d *json.Decoder, shared map[Frame]*Frame) error {
	if _, err := d.Token(); err != nil { // [
		return fmt.Errorf("analysis: read report: sites: %w", err)
	}
	r.Sites = []Site{}
	for d.More() {
		var site Site
		if err := d.Decode(&site); err != nil {
			return fmt.Errorf("analysis: read report: site %d: %w", len(r.Sites), err)
		}
		for _, stack := range append(site.Aliases, site.Stack) {
			for i, f := range stack {
				if f == nil {
					return fmt.Errorf("analysis: read report: site %d has an empty frame", len(r.Sites))
				}
				if shared[*f] == nil {
					shared[*f] = f
				}
				stack[i] = shared[*f]
			}
		}
		r.Sites = append(r.Sites, site)
	}
	if _, err := d.Token(); err != nil { // ]
		return fmt.Errorf("analysis: read report: sites: %w", err)
	}
	return nil
}
