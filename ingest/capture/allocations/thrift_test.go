package allocations

import (
	"fmt"
	"strings"
	"testing"
)

// A value is read and passed over only where all of it is there: a length, a count and a depth are claims.
func TestThriftClaims(t *testing.T) {
	nested := func(open string, depth int) string {
		return strings.Repeat(open, depth) + strings.Repeat("\x00", depth)
	}
	for _, c := range []struct {
		name string
		kind byte
		text string
		bad  bool
	}{
		{"a byte", thriftByte, "x", false},
		{"no byte", thriftByte, "", true},
		{"a truth in a list", thriftTrue, "\x01", false},
		{"an integer of two bytes", 5, "\x80\x01", false},
		{"half an integer", 5, "\x80", true},
		{"a double", thriftDouble, "12345678", false},
		{"seven bytes of a double", thriftDouble, "1234567", true},
		{"a string up to the end", thriftBytes, "\x03abc", false},
		{"a string beyond the end", thriftBytes, "\x04abc", true},
		{"an empty string", thriftBytes, "\x00", false},
		{"a string without its length", thriftBytes, "", true},
		{"a list of two", thriftList, "\x23ab", false},
		{"a list of two that has one", thriftList, "\x23a", true},
		{"a set of fourteen", thriftSet, "\xe3abcdefghijklmn", false},
		{"a list of fifteen, whose count has a byte", thriftList, "\xf3\x0fabcdefghijklmno", false},
		{"a list whose elements are too short", thriftList, "\x28\x05a\x00", true},
		{"a struct", thriftStruct, "\x13a\x23b\x00", false},
		{"a struct whose truths have no bytes", thriftStruct, "\x11\x12\x13a\x00", false},
		{"a struct without its end", thriftStruct, "\x13a", true},
		{"structs as deep as may be", thriftStruct, nested("\x1c", thriftDepth-1) + "\x00", false},
		{"structs deeper by one", thriftStruct, nested("\x1c", thriftDepth) + "\x00", true},
		{"lists as deep as may be", thriftList, strings.Repeat("\x19", thriftDepth-1) + "\x13a", false},
		{"lists deeper by one", thriftList, strings.Repeat("\x19", thriftDepth) + "\x13a", true},
		{"a map", 11, "\x00", true},
		{"no type", 0, "\x00", true},
	} {
		cursor := &thriftCursor{b: []byte(c.text)}
		cursor.element(c.kind)
		if cursor.bad != c.bad || !c.bad && (cursor.at != len(c.text) || cursor.depth != 0) {
			t.Errorf("%s: bad %v, %d of %d bytes, depth %d", c.name, cursor.bad, cursor.at, len(c.text), cursor.depth)
		}
	}
}

// The numbers of fields are counted on from the one before, or written out; integers have their sign in the last bit.
func TestThriftValues(t *testing.T) {
	cursor := &thriftCursor{b: []byte("\x15\x03" + "\x28\x02hi" + "\x05\x14\x02" + "\x11" + "\x00" + "rest")}
	var got strings.Builder
	cursor.fields(func(id int64, kind byte) {
		switch kind {
		case thriftBytes:
			fmt.Fprintf(&got, "%d: %q ", id, cursor.bytes())
		case thriftTrue:
			fmt.Fprintf(&got, "%d: true ", id)
		default:
			fmt.Fprintf(&got, "%d: %d ", id, cursor.integer())
		}
	})
	if want := `1: -2 3: "hi" 10: 1 11: true `; got.String() != want || cursor.bad || cursor.at != len(cursor.b)-4 {
		t.Errorf("%s, want %s; %d of %d bytes, bad %v", &got, want, cursor.at, len(cursor.b), cursor.bad)
	}
	if v := cursor.integer(); v == 0 || cursor.want(thriftList, thriftSet) || !cursor.bad || cursor.byte() != 0 ||
		cursor.integer() != 0 || cursor.bytes() != nil {
		t.Error("a cursor goes on behind what does not fit")
	}
}
