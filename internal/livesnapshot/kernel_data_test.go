package livesnapshot

import (
	"encoding/binary"
	"fmt"
	"testing"
	"unicode/utf16"
)

func utf16Of(text string) (b []byte) {
	for _, u := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

func put(b []byte, width int, v uint64) []byte {
	if width == 4 {
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

// typesAnswer spells what NtQueryObject answers, by the layout of phnt's ntobapi.h.
func typesAnswer(width int, indexed bool, names ...string) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(names)))
	for len(b)%width != 0 {
		b = append(b, 0)
	}
	for i, name := range names {
		text := utf16Of(name)
		b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
		b = binary.LittleEndian.AppendUint16(b, uint16(len(text)+2))
		if width == 8 {
			b = append(b, 0, 0, 0, 0)
		}
		b = put(b, width, 0xDEAD)          // Buffer
		b = append(b, make([]byte, 48)...) // twelve counters
		b = append(b, make([]byte, 24)...) // InvalidAttributes, GenericMapping, ValidAccessMask
		b = append(b, 1, 0)                // SecurityRequired, MaintainHandleCount
		index := byte(0)
		if indexed {
			index = byte(i + 3)
		}
		b = append(b, index, 0)
		b = append(b, make([]byte, 12)...) // PoolType and two charges
		b = append(append(b, text...), 0, 0)
		for len(b)%width != 0 {
			b = append(b, 0)
		}
	}
	return b
}

func handlesAnswer(width int, types ...uint32) []byte {
	b := put(put(nil, width, uint64(len(types))), width, 0)
	for i, t := range types {
		b = put(put(put(b, width, uint64(4*i+4)), width, 1), width, 2)
		for _, v := range []uint32{0x1F0003, t, 0, 0} {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
	}
	return append(b, make([]byte, 100)...) // room that was not used
}

func TestHandleCounts(t *testing.T) {
	for _, width := range []int{4, 8} {
		for _, isIndexed := range []bool{false, true} {
			first := uint32(2)
			if isIndexed {
				first = 3
			}
			names := typeNames(typesAnswer(width, isIndexed, "Type", "Directory", "Event"), width)
			answer := handlesAnswer(width, first+2, first+2, first, 99)
			if got := fmt.Sprint(handleCounts(answer, width, names)); got != "[{ 1} {Event 2} {Type 1}]" {
				t.Errorf("width %d, indexed %t: %s, names %v", width, isIndexed, got, names)
			}
		}
		whole := typesAnswer(width, true, "Type", "Directory")
		for n := range whole { // cut anywhere
			if got := typeNames(whole[:n], width); len(got) > 2 {
				t.Errorf("width %d: %v of %d bytes", width, got, n)
			}
			handleCounts(whole[:n], width, nil)
		}
		for range 4 {
			whole[len(whole)%7]++ // claims
			typeNames(whole, width)
		}
	}
	claim := put(put(nil, 8, 1<<63), 8, 0)
	if got := handleCounts(claim, 8, nil); len(got) != 0 {
		t.Errorf("a claim without entries gives %v", got)
	}
}

func TestUnloadedImages(t *testing.T) {
	for _, width := range []int{4, 8} {
		image := func(base, size uint64, name string) []byte {
			b := put(put(nil, width, base), width, size)
			for _, v := range []uint32{7, 0x5F000000, 0xABC} {
				b = binary.LittleEndian.AppendUint32(b, v)
			}
			text := append(utf16Of(name), make([]byte, 64)...)[:64]
			return append(append(b, text...), 1, 2, 3, 4, 5, 6, 7, 8) // Version
		}
		entry := len(image(0, 0, ""))
		b := append(image(0x10000000, 0x8000, "gone.dll"), image(0, 0, "")...)
		b = append(b, image(0x20000000, 0x1000, "exactly thirty-two characters.dl")...)
		b = append(b, image(0xFFFFF000, 1<<32-1, "wraps.dll")[:entry-1]...) // cut
		got := fmt.Sprintf("%+v", unloadedImages(b, entry, width))
		want := "[{Name:gone.dll Base:268435456 Size:32768 Checksum:2748 Timestamp:1593835520} " +
			"{Name:exactly thirty-two characters.dl Base:536870912 Size:4096 Checksum:2748 Timestamp:1593835520}]"
		if got != want {
			t.Errorf("width %d: %s", width, got)
		}
		if got := unloadedImages(b, 8, width); got != nil {
			t.Errorf("entries of 8 bytes give %v", got)
		}
	}
}
