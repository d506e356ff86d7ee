package petest

import (
	"cmp"
	"errors"
	"slices"
)

func fields(v ...uint32) []byte {
	var b []byte
	for _, v := range v {
		b = le.AppendUint32(b, v)
	}
	return b
}

// debug writes the debug directory with one entry: characteristics, time stamp, version, type 2 (CodeView), size, RVA
// and file offset of the record.
func (l *layout) debug() error {
	if l.PDB == "" {
		return nil
	}
	record := append([]byte("RSDS"), l.GUID[:]...)
	if l.NB10 {
		record = append([]byte("NB10\x00\x00\x00\x00"), l.GUID[:4]...)
	}
	record = append(le.AppendUint32(record, l.Age), l.PDB+"\x00"...)
	at, err := l.place(".rdata", record)
	if err != nil {
		return err
	}
	version := uint32(0)
	if l.Portable {
		version = 0x504D<<16 | 0x100
	}
	dir := fields(0, l.Timestamp, version, 2, uint32(len(record)), at, l.fileOffset(at))
	where, err := l.place(".rdata", dir)
	l.dirs[6] = [2]uint32{where, uint32(len(dir))}
	return err
}

// fileOffset is only right for .rdata while nothing more is put into the sections before it.
func (l *layout) fileOffset(rva uint32) uint32 {
	at := uint32(headerSize)
	for _, s := range l.sections {
		if rva >= s.RVA && rva-s.RVA < s.Size {
			return at + rva - s.RVA
		}
		at += (uint32(len(s.Content)) + fileAlignment - 1) &^ (fileAlignment - 1)
	}
	return 0
}

// exports writes the export directory: header, addresses, names, their ordinals, the texts.
func (l *layout) exports() error {
	if len(l.Exports) == 0 {
		return nil
	}
	var last uint32
	list := slices.Clone(l.Exports)
	for i := range list {
		if list[i].Ordinal == 0 {
			list[i].Ordinal = last + 1
		}
		last = max(last, list[i].Ordinal)
	}
	var named []Export
	for _, e := range list {
		if e.Name != "" {
			named = append(named, e)
		}
	}
	slices.SortFunc(named, func(a, b Export) int { return cmp.Compare(a.Name, b.Name) })
	start := l.next(".rdata")
	addressesAt := start + 40
	namesAt := addressesAt + 4*last
	ordinalsAt := namesAt + 4*uint32(len(named))
	textAt := ordinalsAt + 2*uint32(len(named))
	text := append([]byte(l.Name), 0)
	add := func(s string) uint32 {
		at := textAt + uint32(len(text))
		text = append(append(text, s...), 0)
		return at
	}
	addresses := make([]uint32, last)
	for _, e := range list {
		if addresses[e.Ordinal-1] = e.RVA; e.Forwarder != "" {
			addresses[e.Ordinal-1] = add(e.Forwarder)
		}
	}
	var names, ordinals []byte
	for _, e := range named {
		names = le.AppendUint32(names, add(e.Name))
		ordinals = le.AppendUint16(ordinals, uint16(e.Ordinal-1))
	}
	dir := fields(0, l.Timestamp, 0, textAt, 1, last, uint32(len(named)), addressesAt, namesAt, ordinalsAt)
	dir = append(append(append(append(dir, fields(addresses...)...), names...), ordinals...), text...)
	at, err := l.place(".rdata", dir)
	l.dirs[0] = [2]uint32{at, uint32(len(dir))}
	return err
}

// pdata writes .pdata sorted by Begin, and the unwind data into .rdata.
func (l *layout) pdata() error {
	if l.Machine == X86 || len(l.Functions) == 0 {
		return nil
	}
	functions := slices.Clone(l.Functions)
	slices.SortFunc(functions, func(a, b Function) int { return cmp.Compare(a.Begin, b.Begin) })
	entry := l.x64Entry
	if l.Machine == ARM64 {
		entry = l.arm64Entry
	}
	var b []byte
	for _, f := range functions {
		e, err := entry(f)
		if err != nil {
			return err
		}
		b = append(b, e...)
	}
	at, err := l.place(".pdata", b)
	l.dirs[3] = [2]uint32{at, uint32(len(b))}
	return err
}

// x64Entry writes UNWIND_INFO of version 1 with no codes: an odd number of codes would be padded to an even one. A part
// has the flag UNW_FLAG_CHAININFO (4) and the entry of its function behind.
func (l *layout) x64Entry(f Function) ([]byte, error) {
	info := []byte{1, 0, 0, 0}
	if f.Parent != 0 {
		i := slices.IndexFunc(l.Functions, func(g Function) bool { return g.Begin == f.Parent })
		if i < 0 {
			return nil, errors.New("petest: a part of a function that .pdata does not have")
		}
		parent, err := l.x64Entry(l.Functions[i])
		if err != nil {
			return nil, err
		}
		info = append([]byte{1 | 4<<3, 0, 1, 0, 0, 0, 0, 0}, parent...) // one code, so two are there
	}
	at, err := l.place(".rdata", info)
	return fields(f.Begin, f.End, at), err
}

// arm64Entry writes packed unwind data (flag 1) or, where the function is too long for it or Full, .xdata with its
// length, no epilogs and one word of codes (end).
func (l *layout) arm64Entry(f Function) ([]byte, error) {
	words := (f.End - f.Begin) / 4
	if words < 1<<11 && !f.Full {
		return fields(f.Begin, words<<2|1), nil
	}
	at, err := l.place(".rdata", fields(words|1<<27, 0xE4))
	return fields(f.Begin, at), err
}
