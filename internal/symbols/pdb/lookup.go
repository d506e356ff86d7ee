package pdb

import (
	"context"
	"sync"
)

// Lookup says what an RVA of the image belongs to; false where the PDB knows nothing of it.
func (f *File) Lookup(ctx context.Context, rva uint32) (Location, bool, error) {
	var to Location
	s, err := f.space()
	if err != nil {
		return to, false, err
	}
	at, ok := f.ToSource(rva)
	if !ok {
		return to, false, nil
	}
	section := f.section(at)
	if section == 0 {
		return to, false, nil
	}
	if i, ok := contributionAt(s.contributions, at); ok {
		if err := f.locateIn(ctx, int(s.contributions[i].module), at, &to); err != nil {
			return to, false, err
		}
	}
	if to.Kind == "" {
		strays, err := f.straysOf(ctx, s.contributions)
		if err != nil {
			return to, false, err
		}
		if i, ok := contributionAt(strays, at); ok {
			if err := f.locateIn(ctx, int(strays[i].module), at, &to); err != nil {
				return to, false, err
			}
		}
	}
	o := overlay{f: f, s: s}
	ok, err = o.public(at, section, &to)
	return to, ok, err
}

// locateIn fills a location from one module, which is kept for the next look-up.
func (f *File) locateIn(ctx context.Context, number int, rva uint32, to *Location) error {
	m, err := f.module(ctx, number)
	if err != nil {
		return err
	}
	m.use.Lock()
	defer m.use.Unlock()
	return m.locator.locate(ctx, rva, to)
}

// A space is what all look-ups need.
type space struct {
	contributions []contribution
	publics       *publics
}

// space reads it, and reports what else cannot be read before it is needed.
func (f *File) space() (s space, err error) {
	if f.info.NoSections && !f.info.TypesOnly && len(f.source) == 0 {
		return s, fail(CodeNoSections, -1, 0, "the PDB has no section headers: give those of its image")
	}
	if f.info.OMAP {
		if _, err := f.omap(); err != nil {
			return s, err
		}
	}
	_, err = f.names()
	if err := f.tolerate(err); err != nil {
		return s, err
	}
	s.contributions, err = f.contributions()
	if err := f.tolerate(err); err != nil {
		return s, err
	}
	s.publics, err = f.publics()
	return s, f.tolerate(err)
}

// farFromPublic is the distance in bytes from which a public symbol is doubted where no contribution says what is its
// own. Most functions are shorter.
const farFromPublic = 0x1000

// An overlay adds the nearest public symbol. It is quick where it is asked in ascending order.
type overlay struct {
	f     *File
	s     space
	last  int // number of the public that was found last
	named int // number of the public whose name is kept, plus 1
	name  string
}

// public completes a location; false where there is nothing to say of the address.
func (o *overlay) public(rva uint32, section int, to *Location) (bool, error) {
	offset := rva - o.f.source[section-1].RVA
	i, start, ok := o.s.publics.nearest(uint16(section), offset, o.last)
	o.last = i
	known := to.Kind != "" || to.File != "" || to.Line != 0
	if !ok {
		return known, nil
	}
	if o.named != i+1 {
		name, err := o.s.publics.name(i)
		if err := o.f.tolerate(err); err != nil {
			return false, err
		}
		o.name, o.named = name, i+1
	}
	if o.name == "" { // damaged
		return known, nil
	}
	to.Public, to.PublicDisplacement = o.name, offset-start
	if to.Kind != "" {
		return true, nil
	}
	start = rva - to.PublicDisplacement // of the function, in the source space
	to.Function, to.Kind, to.Displacement = to.Public, KindPublic, to.PublicDisplacement
	to.Start = o.f.fromSource(start)
	if own, ok := contributionAt(o.s.contributions, start); ok {
		to.LowConfidence = rva >= o.s.contributions[own].end
	} else {
		to.LowConfidence = to.PublicDisplacement >= farFromPublic
	}
	return true, nil
}

// A moduleCache keeps the modules that single look-ups used last.
type moduleCache struct {
	mu    sync.Mutex
	kept  map[int]*sharedModule
	order []int // oldest first
	bytes int
}

// A sharedModule is used by one look-up at a time, because look-ups decode parts of it.
type sharedModule struct {
	locator locator
	use     sync.Mutex
}

const moduleMemory = 44 << 20 // bytes of streams that are kept

func (f *File) module(ctx context.Context, number int) (*sharedModule, error) {
	c := &f.loaded
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.kept[number]; ok {
		return m, nil
	}
	loaded, err := f.loadModule(ctx, number, nil)
	if err != nil {
		return nil, err
	}
	m := &sharedModule{locator: locator{m: loaded}}
	for len(c.order) > 0 && c.bytes+len(loaded.memory) > moduleMemory {
		c.bytes -= len(c.kept[c.order[0]].locator.m.memory)
		delete(c.kept, c.order[0])
		c.order = c.order[1:]
	}
	if c.kept == nil {
		c.kept = map[int]*sharedModule{}
	}
	c.kept[number] = m
	c.order = append(c.order, number)
	c.bytes += len(loaded.memory)
	return m, nil
}
