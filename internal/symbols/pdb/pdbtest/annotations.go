package pdbtest

// Binary annotations (cvinfo.h, BinaryAnnotationOpcode).
const (
	opChangeCodeOffset              = 3
	opChangeCodeLength              = 4
	opChangeFile                    = 5
	opChangeLineOffset              = 6
	opChangeCodeOffsetAndLineOffset = 11
	opChangeCodeLengthAndCodeOffset = 12
)

// annotations encodes the ranges of an inline site. MSVC gives each range its length and start at once, the start
// counted from that of the range before; clang gives starts, and a length where the next range does not follow at once,
// from whose end it counts on.
func (w *Writer) annotations(m *Module, in *Inline) []byte {
	var b []byte
	file, line, at := in.File, in.Line, uint32(0)
	for i, r := range in.Ranges {
		rangeFile := r.File
		if rangeFile == "" {
			rangeFile = in.File
		}
		if rangeFile != file {
			b = appendCompressed(append(b, opChangeFile), w.files.offset(w.names.offset(rangeFile)))
			file = rangeFile
		}
		delta := int32(r.Line - line)
		line = r.Line
		step := r.Offset - at
		switch {
		case !m.Clang:
			if delta != 0 {
				b = appendCompressed(append(b, opChangeLineOffset), signed(delta))
			}
			b = appendCompressed(append(b, opChangeCodeLengthAndCodeOffset), r.Length)
			b = appendCompressed(b, step)
			at = r.Offset
			continue
		case step < 16 && signed(delta) < 8:
			b = appendCompressed(append(b, opChangeCodeOffsetAndLineOffset), signed(delta)<<4|step)
		default:
			if delta != 0 {
				b = appendCompressed(append(b, opChangeLineOffset), signed(delta))
			}
			b = appendCompressed(append(b, opChangeCodeOffset), step)
		}
		at = r.Offset
		if end := r.Offset + r.Length; i == len(in.Ranges)-1 || in.Ranges[i+1].Offset != end {
			b = appendCompressed(append(b, opChangeCodeLength), r.Length)
			at = end
		}
	}
	return b
}

// appendCompressed adds a number in 1, 2 or 4 bytes, highest first; the first bits are 0, 10 or 110.
func appendCompressed(b []byte, v uint32) []byte {
	switch {
	case v < 0x80:
		return append(b, byte(v))
	case v < 0x4000:
		return append(b, byte(v>>8)|0x80, byte(v))
	}
	return append(b, byte(v>>24)|0xC0, byte(v>>16), byte(v>>8), byte(v))
}

// signed has the sign in the lowest bit.
func signed(v int32) uint32 {
	if v < 0 {
		return uint32(-v)<<1 | 1
	}
	return uint32(v) << 1
}
