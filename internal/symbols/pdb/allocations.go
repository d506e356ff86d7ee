package pdb

import "context"

// AllocationSites yields the calls of allocators whose result type the compiler recorded: the RVA in the image of the
// return address, and the type that was allocated. They come module by module. Of code that several modules have, that
// of the module whose copy was kept is told.
//
// S_HEAPALLOCSITE: offset of the call 0 4, section 4 2, bytes of the call 6 2, type 8 4.
func (f *File) AllocationSites(ctx context.Context, yield func(ret uint32, typ string) error) error {
	s, err := f.space()
	if err != nil {
		return err
	}
	types, err := f.types()
	if err != nil {
		return err
	}
	texts := map[uint32]string{}
	var buf []byte
	for number, c := range f.modules {
		if c.stream == noStream {
			continue
		}
		m, err := f.loadModule(ctx, number, buf)
		if err != nil {
			return err
		}
		buf = m.memory
		count := 0
		for at := uint32(4); ; {
			kind, b, next, ok := m.record(at)
			if !ok {
				break
			}
			if count++; count%interruptEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			at = next
			if kind != symHeapSite || len(b) < 12 {
				continue
			}
			call, ok := f.rva(le.Uint16(b[4:]), le.Uint32(b))
			if own := moduleAt(s.contributions, call); !ok || own >= 0 && own != int32(number) {
				continue
			}
			image := f.fromSource(call)
			if image == 0 {
				continue
			}
			id := le.Uint32(b[8:])
			text, known := texts[id]
			if !known {
				t := typeText{types: types}
				text, _ = t.of(id)
				texts[id] = text
			}
			if err := yield(image+uint32(le.Uint16(b[6:])), text); err != nil {
				return err
			}
		}
	}
	return nil
}
