package capture

import (
	"fmt"
	"io"
	"math"
)

// The artifact of names has the framing of a capture's, with the magic "hdnam". Texts are stored once, images refer
// to them by number.
const namesMagic = "hdnam"

const (
	tagNameTexts = iota + 1
	tagImage     // one section per image
)

// Write writes n as an artifact.
func (n *Names) Write(w io.Writer) error {
	texts := textTable{ids: map[string]uint64{}}
	sections := make([]section, 0, len(n.Images)+1)
	images := make([]encoder, len(n.Images))
	for i := range n.Images {
		n.Images[i].put(&images[i], &texts)
	}
	sections = append(sections, section{tagNameTexts, func(e *encoder) {
		e.uint(uint64(len(texts.list)))
		for _, t := range texts.list {
			e.string(t)
		}
	}})
	for i := range images {
		sections = append(sections, section{tagImage, func(e *encoder) { e.b = append(e.b, images[i].b...) }})
	}
	return writeArtifact(w, namesMagic, sections)
}

// ReadNames reads an artifact that Names.Write made. Its error wraps ErrArtifact where the bytes are not one.
func ReadNames(r io.Reader) (*Names, error) {
	n, texts := &Names{}, []string(nil)
	err := readArtifact(r, math.MaxInt64, namesMagic, map[uint64]func(*decoder){
		tagNameTexts: func(d *decoder) {
			texts = make([]string, d.count(1))
			for i := range texts {
				texts[i] = d.string()
			}
		},
		tagImage: func(d *decoder) {
			image := Image{}
			image.take(d, texts)
			n.Images = append(n.Images, image)
		},
	})
	if err != nil {
		return nil, err
	}
	for i := range n.Images {
		for k := 1; k < len(n.Images[i].rvas); k++ {
			if n.Images[i].rvas[k-1] >= n.Images[i].rvas[k] {
				return nil, fmt.Errorf("%w: return addresses of %s are not in order", ErrArtifact, n.Images[i].File)
			}
		}
	}
	n.Sort()
	return n, nil
}

// A textTable numbers texts.
type textTable struct {
	ids  map[string]uint64
	list []string
}

func (t *textTable) id(s string) uint64 {
	id, ok := t.ids[s]
	if !ok {
		id = uint64(len(t.list))
		t.ids[s] = id
		t.list = append(t.list, s)
	}
	return id
}

func (i *Image) put(e *encoder, texts *textTable) {
	for _, s := range []string{i.File, i.DebugID, string(i.Symbols), i.PDB, i.UsedDebugID, i.Match} {
		e.string(s)
	}
	e.uint(i.Size)
	e.bool(i.Own)
	e.bool(i.Proven)
	e.uint(uint64(len(i.Tried)))
	for _, a := range i.Tried {
		e.string(a.Place)
		e.string(a.Result)
		e.string(a.Detail)
	}
	e.uint(uint64(len(i.rvas)))
	for rva, frames := range i.All() {
		e.uint(uint64(rva))
		e.uint(uint64(len(frames)))
		texts.putFrames(e, frames)
	}
	offsets := i.NamedOffsets()
	if len(offsets) == 0 {
		return
	}
	e.uint(uint64(len(offsets)))
	for _, p := range offsets {
		e.uint(texts.id(p.Function))
		e.uint(p.Offset)
		e.uint(uint64(len(i.offsets[p])))
		texts.putFrames(e, i.offsets[p])
	}
}

func (t *textTable) putFrames(e *encoder, frames []NamedFrame) {
	for _, f := range frames {
		e.uint(t.id(f.Function))
		e.uint(f.Offset)
		e.uint(t.id(f.File))
		e.uint(uint64(f.Line))
		e.uint(t.id(f.Type))
		e.bool(f.Inline)
		e.bool(f.Approx)
	}
}

func (i *Image) take(d *decoder, texts []string) {
	text := func() string {
		if id := d.uint(); id < uint64(len(texts)) {
			return texts[id]
		}
		d.b, d.bad = nil, true
		return ""
	}
	i.File, i.DebugID, i.Symbols = d.string(), d.string(), SymbolKind(d.string())
	i.PDB, i.UsedDebugID, i.Match = d.string(), d.string(), d.string()
	i.Size, i.Own, i.Proven = d.uint(), d.bool(), d.bool()
	i.Tried = make([]Attempt, d.count(3))
	for k := range i.Tried {
		i.Tried[k] = Attempt{Place: d.string(), Result: d.string(), Detail: d.string()}
	}
	frames := func() []NamedFrame {
		list := make([]NamedFrame, d.count(7))
		for k := range list {
			list[k] = NamedFrame{Function: text(), Offset: d.uint(), File: text(), Line: uint32(d.uint()), Type: text(),
				Inline: d.bool(), Approx: d.bool()}
		}
		return list
	}
	for range d.count(2) {
		rva := d.uint()
		i.Add(uint32(rva), frames()...)
	}
	if len(d.b) == 0 { // without offsets, or written before there were any
		return
	}
	for range d.count(3) {
		at := FunctionOffset{text(), d.uint()}
		i.AddOffset(at, frames()...)
	}
}
