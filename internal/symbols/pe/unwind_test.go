package pe_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/symbols/pe"
	"heapdrift/internal/symbols/pe/petest"
)

// damaged is the image of library with one entry of .pdata, and the data it points to, that a test chooses.
func damaged(machine uint16, entry []uint32, data ...uint32) *petest.Image {
	i := library(machine)
	i.Functions = nil
	i.Sections[1].Content = words(data)
	i.Sections[2].Content = words(entry)
	i.Directories = map[int][2]uint32{3: {0x3000, uint32(4 * len(entry))}}
	return i
}

func words(v []uint32) (b []byte) {
	for _, v := range v {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func TestUnwindData(t *testing.T) {
	const chained = 1 | 4<<3 // version 1, UNW_FLAG_CHAININFO, no codes
	for name, c := range map[string]struct {
		image      *petest.Image
		begin, end uint32
		code       string
	}{
		"primary": {damaged(petest.X64, []uint32{0x1000, 0x1100, 0x2000}, 1), 0x1000, 0x1100, ""},
		"chained": {damaged(petest.X64, []uint32{0x1000, 0x1100, 0x2000}, chained, 0x1200, 0x1280, 0x2010,
			1), 0x1200, 0x1280, ""},
		"entry of another": {damaged(petest.X64, []uint32{0x1000, 0x1100, 0x2001}, 0x1200, 0x1280, 0x200C, 1), 0x1200,
			0x1280, ""},
		"circle": {damaged(petest.X64, []uint32{0x1000, 0x1100, 0x2000}, chained, 0x1000, 0x1100, 0x2000),
			0, 0, pe.CodeBadUnwind},
		"circle of entries":  {damaged(petest.X64, []uint32{0x1000, 0x1100, 0x3001}), 0, 0, pe.CodeBadUnwind},
		"nothing there":      {damaged(petest.X64, []uint32{0x1000, 0x1100, 0x9000}), 0, 0, pe.CodeBadUnwind},
		"chained to nothing": {damaged(petest.X64, []uint32{0x1000, 0x1100, 0x2000}, chained), 0, 0, pe.CodeBadUnwind},
		"end before begin": {damaged(petest.X64, []uint32{0x1000, 0x1100, 0x2001}, 0x1200, 0x1180, 0x200C, 1),
			0, 0, pe.CodeBadUnwind},
		"packed":                   {damaged(petest.ARM64, []uint32{0x1000, 0x40<<2 | 1}), 0x1000, 0x1100, ""},
		"packed fragment":          {damaged(petest.ARM64, []uint32{0x1000, 0x40<<2 | 2 | 0xFFFFE000}), 0x1000, 0x1100, ""},
		"unpacked":                 {damaged(petest.ARM64, []uint32{0x1000, 0x2000}, 0x40|0xFFFC0000), 0x1000, 0x1100, ""},
		"reserved":                 {damaged(petest.ARM64, []uint32{0x1000, 0x40<<2 | 3}), 0, 0, pe.CodeBadUnwind},
		"unpacked, but not there":  {damaged(petest.ARM64, []uint32{0x1000, 0x9000}), 0, 0, pe.CodeBadUnwind},
		"behind the last function": {damaged(petest.ARM64, []uint32{0x1000, 2<<2 | 1}), 0, 0, ""},
	} {
		f := opened(t, c.image)
		begin, end, ok, err := f.FunctionBounds(0x1010)
		if code := errorCode(err); code != c.code || ok != (c.end != 0) || begin != c.begin && ok || end != c.end && ok {
			t.Errorf("%s: %#x to %#x, %v, %v", name, begin, end, ok, err)
		}
		if _, _, ok := f.NearestExport(0x1010); c.code != "" && ok {
			t.Errorf("%s: an export is found in a function without bounds", name)
		}
	}
}

func errorCode(err error) string {
	var e *evidence.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
