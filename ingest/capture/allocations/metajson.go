package allocations

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"
)

// maxStacks is how many bytes of JSON stacks may take before they are left out.
const maxStacks = 64 << 20

// The JSON of Meta. Addresses are strings, because numbers of JSON have 53 bits; times outside of the trace are null.
type (
	traceJSON struct {
		Start  time.Time `json:"start"`
		FromNS int64     `json:"from_ns"`
		ToNS   int64     `json:"to_ns"`
	}
	processJSON struct {
		Number   uint32 `json:"number"`
		PID      uint32 `json:"pid"`
		Name     string `json:"name"`
		BeganNS  *int64 `json:"began_ns"`
		ExitedNS *int64 `json:"exited_ns"`
	}
	siteJSON struct {
		Process uint32  `json:"process"`
		Heap    address `json:"heap"`
		Stack   uint32  `json:"stack"`
		Kind    string  `json:"kind"`
	}
	imageJSON struct {
		Process    uint32  `json:"process"`
		Base       address `json:"base"`
		Size       uint64  `json:"size"`
		Path       string  `json:"path"`
		PDB        string  `json:"pdb,omitempty"`
		DebugID    string  `json:"debug_id,omitempty"`
		LoadedNS   *int64  `json:"loaded_ns"`
		UnloadedNS *int64  `json:"unloaded_ns"`
	}
)

// An address is written as "0x1f0".
type address uint64

func (a address) MarshalText() ([]byte, error) {
	return strconv.AppendUint([]byte("0x"), uint64(a), 16), nil
}

func (a *address) UnmarshalText(b []byte) error {
	digits, ok := bytes.CutPrefix(b, []byte("0x"))
	v, err := strconv.ParseUint(string(digits), 16, 64)
	if !ok || err != nil {
		return fmt.Errorf("%q is no address", b)
	}
	*a = address(v)
	return nil
}

// outside is nil for a time that lies outside of the trace; inside is the way back.
func outside(t, never int64) *int64 {
	if t == never {
		return nil
	}
	return &t
}

func inside(t *int64, never int64) int64 {
	if t == nil {
		return never
	}
	return *t
}

// pairs are the keys and values of a table's metadata.
func (m *Meta) pairs() (map[string]string, error) {
	processes, sites, images := make([]processJSON, len(m.Processes)), make([]siteJSON, len(m.Sites)),
		make([]imageJSON, len(m.Images))
	for i, p := range m.Processes {
		processes[i] = processJSON{p.Number, p.PID, p.Name, outside(p.Began, BeforeTrace), outside(p.Exited, Never)}
	}
	for i, s := range m.Sites {
		sites[i] = siteJSON{s.Process, address(s.Heap), s.Stack, s.Kind.String()}
	}
	for i, n := range m.Images {
		images[i] = imageJSON{
			n.Process, address(n.Base), n.Size, n.Path, n.PDB, n.DebugID, outside(n.Loaded, BeforeTrace),
			outside(n.Unloaded, Never),
		}
	}
	pairs := map[string]string{keyVersion: tableVersion}
	for key, value := range map[string]any{
		keyTrace: traceJSON{m.Start, m.From, m.To}, keyProcesses: processes, keySites: sites, keyImages: images,
	} {
		b, err := json.Marshal(value)
		if err != nil {
			return nil, failure(CodeWrite, err, "the metadata %s cannot be written", key)
		}
		pairs[key] = string(b)
	}
	if m.Stacks == nil {
		return pairs, nil
	}
	stacks, ok := stacksJSON(m.Stacks, maxStacks)
	if !ok {
		pairs[keyNote] = fmt.Sprintf("The stacks are left out: they take more than %d MB.", maxStacks>>20)
		return pairs, nil
	}
	pairs[keyStacks] = stacks
	return pairs, nil
}

// stacksJSON writes stacks as an object of arrays of addresses, and gives up above a number of bytes.
func stacksJSON(stacks iter.Seq2[uint32, []uint64], limit int) (string, bool) {
	b := []byte{'{'}
	for number, addresses := range stacks {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(strconv.AppendUint(append(b, '"'), uint64(number), 10), `":[`...)
		for i, a := range addresses {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(strconv.AppendUint(append(b, `"0x`...), a, 16), '"')
		}
		if b = append(b, ']'); len(b) > limit {
			return "", false
		}
	}
	return string(append(b, '}')), true
}

// Meta decodes what the numbers of rows stand for. Where stacks were left out, Stacks is nil.
func (t *Table) Meta() (*Meta, error) {
	var trace traceJSON
	var processes []processJSON
	var sites []siteJSON
	var images []imageJSON
	var stacks map[uint32][]address
	for _, part := range []struct {
		key   string
		value any
	}{{keyTrace, &trace}, {keyProcesses, &processes}, {keySites, &sites}, {keyImages, &images}, {keyStacks, &stacks}} {
		text, ok := t.meta[part.key]
		if !ok && part.key == keyStacks {
			continue
		}
		if err := json.Unmarshal([]byte(text), part.value); err != nil {
			return nil, failure(CodeDamaged, err, "the table's metadata %s cannot be read", part.key)
		}
	}
	m := &Meta{Start: trace.Start, From: trace.FromNS, To: trace.ToNS}
	for _, p := range processes {
		m.Processes = append(m.Processes,
			Process{p.Number, p.PID, p.Name, inside(p.BeganNS, BeforeTrace), inside(p.ExitedNS, Never)})
	}
	for _, s := range sites {
		kind, ok := kindNames[s.Kind]
		if !ok {
			return nil, failure(CodeDamaged, nil, "the table's metadata has a site of kind %q", s.Kind)
		}
		m.Sites = append(m.Sites, Site{s.Process, uint64(s.Heap), s.Stack, Kind(kind)})
	}
	for _, n := range images {
		m.Images = append(m.Images, Image{
			n.Process, uint64(n.Base), n.Size, n.Path, n.PDB, n.DebugID, inside(n.LoadedNS, BeforeTrace),
			inside(n.UnloadedNS, Never),
		})
	}
	if stacks != nil {
		m.Stacks = inOrder(stacks)
	}
	return m, nil
}

// inOrder yields stacks by rising number.
func inOrder(stacks map[uint32][]address) iter.Seq2[uint32, []uint64] {
	return func(yield func(uint32, []uint64) bool) {
		for _, number := range slices.Sorted(maps.Keys(stacks)) {
			addresses := make([]uint64, len(stacks[number]))
			for i, a := range stacks[number] {
				addresses[i] = uint64(a)
			}
			if !yield(number, addresses) {
				return
			}
		}
	}
}
