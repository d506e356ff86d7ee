package petest

import (
	"fmt"

	"heapdrift/internal/symbols/pdb/pdbtest"
)

// Of makes the image that belongs to a program: the same sections, a reference to the PDB at the path pdb, code for
// every function with CALLs where the program has calls and allocations, .pdata, and the functions that are not static
// exported by the names of their publics. The program needs the sections of pdbtest.Standard. The image of a program
// with OMAP has no code, since the program does not say where code was moved.
func Of(p *pdbtest.Program, pdb string) (*Image, error) {
	i := &Image{
		Machine: p.Machine, Timestamp: p.Signature, PDB: pdb, GUID: p.GUID, Age: max(p.Age, 1),
		DLL: true, Name: "program.dll",
	}
	if i.Machine == 0 {
		i.Machine = X64
	}
	for _, s := range p.Sections {
		i.Sections = append(i.Sections, Section{Name: s.Name, RVA: s.RVA, Size: s.Size, Characteristics: s.Characteristics})
	}
	if p.OMAP != nil {
		return i, nil
	}
	starts := map[string]uint32{}
	for _, m := range p.Modules {
		for _, f := range m.Functions {
			starts[f.Name] = p.RVA(f.Address)
		}
	}
	for _, m := range p.Modules {
		for k := range m.Functions {
			if err := i.function(p, &m.Functions[k], starts); err != nil {
				return nil, err
			}
		}
		for _, part := range m.Separated {
			rva := p.RVA(part.Address)
			if err := i.fill(rva, part.Length); err != nil {
				return nil, err
			}
			f := Function{Begin: rva, End: rva + part.Length}
			if i.Machine == X64 {
				f.Parent = p.RVA(part.Parent)
			}
			i.Functions = append(i.Functions, f)
		}
	}
	return i, nil
}

func (i *Image) function(p *pdbtest.Program, f *pdbtest.Function, starts map[string]uint32) error {
	if f.Folded {
		return nil
	}
	rva := p.RVA(f.Address)
	if err := i.fill(rva, f.Length); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	calls := f.Calls
	for _, a := range f.Allocations {
		calls = append(calls[:len(calls):len(calls)], a.Call)
	}
	for _, c := range calls {
		if c.Offset+c.Length > f.Length {
			return fmt.Errorf("petest: the call at %#x of %s is behind its end", c.Offset, f.Name)
		}
		code, err := i.call(rva+c.Offset, c.Length, starts[c.Target])
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		if err := i.put(rva+c.Offset, code); err != nil {
			return err
		}
	}
	i.Functions = append(i.Functions, Function{Begin: rva, End: rva + f.Length})
	if f.Decorated != "" && !f.Local {
		i.Exports = append(i.Exports, Export{Name: f.Decorated, RVA: rva})
	}
	return nil
}

// fill writes instructions that do nothing, and a return at the end.
func (i *Image) fill(rva, length uint32) error {
	code := make([]byte, length)
	for at := range code {
		code[at] = 0x90 // NOP
	}
	if i.Machine == ARM64 {
		for at := 0; at+4 <= len(code); at += 4 {
			le.PutUint32(code[at:], 0xD503201F) // NOP
		}
		if n := len(code) &^ 3; n >= 4 {
			le.PutUint32(code[n-4:], 0xD65F03C0) // RET
		}
	} else if length > 0 {
		code[length-1] = 0xC3 // RET
	}
	return i.put(rva, code)
}

func (i *Image) put(rva uint32, code []byte) error {
	for k := range i.Sections {
		s := &i.Sections[k]
		if rva < s.RVA || rva-s.RVA+uint32(len(code)) > s.Size {
			continue
		}
		end := int(rva-s.RVA) + len(code)
		if more := end - len(s.Content); more > 0 {
			padding := make([]byte, more)
			for at := range padding {
				padding[at] = 0xCC // INT3
			}
			s.Content = append(s.Content, padding...)
		}
		copy(s.Content[rva-s.RVA:], code)
		return nil
	}
	return fmt.Errorf("petest: %d bytes of code at %#x are in no section", len(code), rva)
}

// call is a CALL of so many bytes at an RVA. One of 5 bytes goes to the target, others go through a register or a
// pointer.
func (i *Image) call(rva, length, target uint32) ([]byte, error) {
	if i.Machine == ARM64 {
		if length != 4 || rva%4 != 0 {
			return nil, fmt.Errorf("petest: an ARM64 call of %d bytes at %#x", length, rva)
		}
		if target == 0 {
			return fields(0xD63F0100), nil // BLR X8
		}
		return fields(0x94000000 | (target-rva)>>2&0x3FFFFFF), nil // BL
	}
	switch length {
	case 2:
		return []byte{0xFF, 0xD0}, nil // CALL RAX
	case 3:
		return []byte{0xFF, 0x50, 0x18}, nil // CALL [RAX+18h]
	case 5:
		if target == 0 {
			target = i.Sections[0].RVA
		}
		return le.AppendUint32([]byte{0xE8}, target-rva-5), nil
	case 6:
		pointer := i.Sections[min(1, len(i.Sections)-1)].RVA
		if i.Machine == X86 {
			pointer += uint32(i.base())
		} else {
			pointer -= rva + 6
		}
		return le.AppendUint32([]byte{0xFF, 0x15}, pointer), nil
	case 7:
		return []byte{0xFF, 0x94, 0x24, 0x80, 0, 0, 0}, nil // CALL [RSP+80h]
	}
	return nil, fmt.Errorf("petest: no CALL has %d bytes", length)
}
