package capture

import "testing"

// The first value that the bytes do not hold makes a decoder bad, and all behind it zero.
func TestDecoderUnderflow(t *testing.T) {
	for name, read := range map[string]func(d *decoder) bool{ // whether what is read is zero
		"uint":   func(d *decoder) bool { return d.uint() == 0 },
		"int":    func(d *decoder) bool { return d.int() == 0 },
		"string": func(d *decoder) bool { return d.string() == "" },
		"bool":   func(d *decoder) bool { return !d.bool() },
		"time":   func(d *decoder) bool { return d.time().IsZero() },
		"count":  func(d *decoder) bool { return d.count(1) == 0 },
	} {
		d := &decoder{b: []byte{0x85}} // a number that goes on
		if !read(d) || !d.bad || d.uint() != 0 || d.string() != "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
	for name, read := range map[string]func(d *decoder) bool{
		"string": func(d *decoder) bool { return d.string() == "" },
		"count":  func(d *decoder) bool { return d.count(1) == 0 },
	} {
		for length, bad := range map[byte]bool{2: false, 3: true} { // of two bytes that are there
			d := &decoder{b: []byte{length, 'a', 'b'}}
			if empty := read(d); empty != bad || d.bad != bad || bad && (d.uint() != 0 || len(d.b) > 0) {
				t.Errorf("%s of %d: %+v", name, length, d)
			}
		}
	}
	d := &decoder{b: []byte{2, 'a', 'b', 'c'}}
	if d.count(2) != 0 || !d.bad {
		t.Errorf("two elements of two bytes each in three: %+v", d)
	}
}
