package pe

// locate returns the file offset of an RVA, and how many bytes from there on are in the file. It is 0, 0 for what only
// memory has.
func (f *File) locate(rva uint32) (offset, n int64) {
	if f.flat {
		return f.clip(int64(rva), int64(f.info.SizeOfImage)-int64(rva))
	}
	if s := f.section(rva); s != nil {
		into := int64(rva - s.RVA)
		// The loader rounds PointerToRawData down to sectors and maps no more than the section's size in memory.
		return f.clip(int64(s.Offset&^0x1FF)+into, min(int64(s.RawSize), int64(s.span()))-into)
	}
	if rva < f.headers {
		return f.clip(int64(rva), int64(f.headers-rva))
	}
	return 0, 0
}

func (f *File) clip(offset, n int64) (at, length int64) {
	n = min(n, f.size-offset)
	if n <= 0 {
		return 0, 0
	}
	return offset, n
}

// section returns the section that an RVA lies in, or nil.
func (f *File) section(rva uint32) *Section {
	for i := range f.info.Sections {
		if s := &f.info.Sections[i]; s.contains(rva) {
			return s
		}
	}
	return nil
}

// code returns the executable section that an RVA lies in, or nil.
func (f *File) code(rva uint32) *Section {
	if s := f.section(rva); s != nil && s.Executable() {
		return s
	}
	return nil
}

// readRVA returns up to n bytes at an RVA: fewer where the section's bytes in the file end.
func (f *File) readRVA(rva uint32, n int64) ([]byte, error) {
	at, have := f.locate(rva)
	return f.readSome(at, min(n, have))
}
