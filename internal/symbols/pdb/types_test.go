package pdb

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"strings"
	"testing"
)

// memoryStream is a stream of bytes in memory.
type memoryStream []byte

func (s memoryStream) number() int { return streamTPI }
func (s memoryStream) size() int64 { return int64(len(s)) }

func (s memoryStream) view(off int64, n int) ([]byte, error) {
	if off < 0 || off+int64(n) > int64(len(s)) {
		return nil, fail(CodeTruncated, streamTPI, off, "behind the end")
	}
	return s[off : off+int64(n) : off+int64(n)], nil
}

func (s memoryStream) read(off int64, p []byte) error {
	b, err := s.view(off, len(p))
	copy(p, b)
	return err
}

// fields writes numbers of 2 and 4 bytes, bytes and texts with a zero behind them.
func fields(parts ...any) (b []byte) {
	for _, part := range parts {
		switch v := part.(type) {
		case uint8:
			b = append(b, v)
		case uint16:
			b = le.AppendUint16(b, v)
		case int: // 4 bytes, as most fields have
			b = le.AppendUint32(b, uint32(v))
		case uint64:
			b = le.AppendUint64(b, v)
		case string:
			b = append(append(b, v...), 0)
		}
	}
	return b
}

// recordsOf are records of kinds and bodies, numbered from firstType on.
func recordsOf(t *testing.T, list ...[]byte) *records {
	t.Helper()
	var b memoryStream
	for _, r := range list {
		b = append(le.AppendUint16(b, uint16(len(r))), r...)
	}
	r := &records{s: b, first: firstType, end: firstType + uint32(len(list)), bytes: int64(len(b))}
	if err := r.makeIndex(); err != nil {
		t.Fatal(err)
	}
	return r
}

// Types are spelled as C++ does, with their sizes.
func TestTypeText(t *testing.T) {
	u16 := func(v int) uint16 { return uint16(v) }
	pointer := func(to, mode, bytes, flags int) []byte {
		return fields(u16(leafPointer), to, mode<<5|bytes<<13|flags)
	}
	array := func(of int, bytes uint16) []byte { return fields(u16(leafArray), of, 0x22, bytes, "") }
	const deep = 60
	list := [][]byte{
		fields(u16(leafStructure), u16(2), u16(0), 0, 0, 0, u16(24), "Session"),            // 0x1000
		fields(u16(leafEnum), u16(2), u16(0), 0x74, 0, "Color"),                            // 0x1001
		fields(u16(leafModifier), 0x74, u16(1)), fields(u16(leafModifier), 0x1000, u16(2)), // 0x1002, 3
		fields(u16(leafModifier), 0x1000, u16(3)),                                      // 0x1004
		pointer(0x1000, 0, 8, 0xC), pointer(0x1000, 1, 4, 0), pointer(0x1000, 4, 8, 0), // 0x1005, 6, 7
		pointer(0x1000, 0, 0, 0xC), pointer(0x1000, 0, 0, 0xA), pointer(0x1000, 0, 0, 0xB), // 0x1008, 9, A
		pointer(0x1005, 0, 8, 1<<10),                               // 0x100B
		fields(u16(leafProcedure), 0x03), pointer(0x100C, 0, 8, 0), // 0x100C, D
		fields(u16(leafMFunction), 0x74, 0x1000), fields(u16(leafVTShape)), // 0x100E, F
		pointer(0x100F, 0, 8, 0),                               // 0x1010
		array(0x74, 40), array(0x1011, 120), array(0x1000, 48), // 0x1011, 12, 13
		fields(u16(leafBitField), 0x75, uint8(3), uint8(5)),                               // 0x1014
		fields(u16(leafClass2), 0, 0, 0, 0, u16(1), u16(16), "Wide"),                      // 0x1015
		fields(u16(leafUnion), u16(1), u16(0), 0, u16(8), "Either"),                       // 0x1016
		fields(u16(leafStructure), u16(0), u16(propertyForward), 0, 0, 0, u16(0), "Wide"), // 0x1017
		fields(u16(0x1234), 1, 2),                                                         // 0x1018
		fields(u16(leafStructure), u16(2), u16(0), 0),                                     // 0x1019, cut off
	}
	begin := firstType + len(list)
	for i := range deep {
		list = append(list, pointer(begin+i+1, 0, 8, 0))
	}
	types := recordsOf(t, append(list, pointer(0x74, 0, 8, 0))...)
	defined := &definitions{seed: maphash.MakeSeed()}
	defined.all = []definition{{maphash.String(defined.seed, "Wide"), 0x1015}}
	for number, want := range map[int]string{
		0x74: "int 4", 0x03: "void 0", 0x574: "int * 6", 0x474: "int * 4", 0x674: "int * 8", 0x774: "int * 16",
		0x174: "int * 2", 0xFF: "<type 0xff> 0", 0x6FF: "<type 0x6ff> * 8",
		0x1000: "Session 24", 0x1001: "Color 4", 0x1002: "const int 4", 0x1003: "volatile Session 24",
		0x1004: "const volatile Session 24", 0x1005: "Session * 8", 0x1006: "Session & 4", 0x1007: "Session && 8",
		0x1008: "Session * 8", 0x1009: "Session * 4", 0x100A: "Session * 6", 0x100B: "Session * * const 8",
		0x100C: "void () 0", 0x100D: "void (*)() 8", 0x100E: "int () 0", 0x100F: "void (*)() 0", 0x1010: "void (*)() * 8",
		0x1011: "int[10] 40", 0x1012: "int[3][10] 120", 0x1013: "Session[2] 48", 0x1014: "unsigned int 4",
		0x1015: "Wide 16", 0x1016: "Either 8", 0x1017: "Wide 16", 0x1018: "<type 0x1018> 0", 0x1019: "<type 0x1019> 0",
		0x9999:                          "<type 0x9999> 0",
		begin:                           "…" + strings.Repeat(" *", maxTypeDepth) + " 8",
		begin + deep - maxTypeDepth + 1: "int" + strings.Repeat(" *", maxTypeDepth) + " 8",
		begin + deep - maxTypeDepth:     "…" + strings.Repeat(" *", maxTypeDepth) + " 8",
	} {
		text, size := (&typeText{types: types, defined: defined}).of(uint32(number))
		if got := fmt.Sprint(text, " ", size); got != want {
			t.Errorf("type %#x is %q, want %q", number, got, want)
		}
	}
	if _, size := (&typeText{types: types}).of(0x1017); size != 0 {
		t.Errorf("without definitions, what is defined elsewhere has %d bytes", size)
	}
	named := typeText{types: types, defined: defined}
	if named.of(0x1013); named.named != "Session" {
		t.Errorf("an array of sessions is of %q", named.named)
	}
	if enum := (typeText{types: types, defined: defined}); true {
		if enum.of(0x1001); enum.named != "Color" {
			t.Errorf("an enumeration is of %q", enum.named)
		}
	}
}

// Numbers have 16 bits or the width that stands before them, with their sign.
func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		b     []byte
		want  int64
		short bool
	}{
		{fields(uint16(0)), 0, false}, {fields(uint16(0x7FFF)), 0x7FFF, false},
		{fields(uint16(0x8000), uint8(0xFE)), -2, false}, {fields(uint16(0x8000)), 0, true},
		{fields(uint16(0x8001), uint16(0xFFFE)), -2, false}, {fields(uint16(0x8002), uint16(0xFFFE)), 0xFFFE, false},
		{fields(uint16(0x8003), -2), -2, false}, {fields(uint16(0x8004), -2), 0xFFFFFFFE, false},
		{fields(uint16(0x8009), uint64(1<<33|5)), 1<<33 | 5, false}, {fields(uint16(0x800A), uint64(1<<34|5)), 1<<34 | 5, false},
		{fields(uint16(0x8004), uint16(1)), 0, true}, {fields(uint16(0x8005), 7), 0, true}, {fields(uint16(0x8008), 7), 0, true},
		{fields(uint16(0x800B), 7), 0, true}, {nil, 0, true},
	} {
		c := cursor{b: test.b}
		if got := c.number(); int64(got) != test.want || c.short != test.short {
			t.Errorf("% x is %d, short %t, want %d, %t", test.b, int64(got), c.short, test.want, test.short)
		}
		if !test.short && c.at != len(test.b) {
			t.Errorf("% x: %d of %d bytes are read", test.b, c.at, len(test.b))
		}
	}
}

// A list of fields has an entry for each member, base class and bit field; what has no place in the layout is passed
// over, whatever its length.
func TestFields(t *testing.T) {
	u16 := func(v int) uint16 { return uint16(v) }
	entries := func(parts ...[]byte) (b []byte) {
		b = fields(u16(leafFieldList))
		for _, p := range parts {
			for b = append(b, p...); len(b)%4 != 0; {
				b = append(b, 0xF0|byte(4-len(b)%4))
			}
		}
		return b
	}
	types := recordsOf(t,
		fields(u16(leafStructure), u16(0), u16(0), 0, 0, 0, u16(8), "Base"), // 0x1000
		fields(u16(leafBitField), 0x75, uint8(3), uint8(5)),                 // 0x1001
		entries( // 0x1002
			fields(u16(leafBClass), u16(3), 0x1000, u16(0)), fields(u16(leafVBClass), u16(3), 0x1000, 0x1003, u16(4), u16(1)),
			fields(u16(leafIVBClass), u16(3), 0x1000, 0x1003, u16(4), u16(1)),
			fields(u16(leafMember), u16(3), 0x74, u16(16), "count"), fields(u16(leafMember), u16(3), 0x1001, u16(20), "flag"),
			fields(u16(leafStMember), u16(3), 0x74, "shared"), fields(u16(leafNestType), u16(0), 0x1000, "Nested"),
			fields(u16(leafNestTypeEx), u16(0), 0x1000, "Nested"), fields(u16(leafMethod), u16(2), 0x1000, "Open"),
			fields(u16(leafFriend), u16(0), 0x1000, "friend"), fields(u16(leafFriendClass), u16(0), 0x1000),
			fields(u16(leafOneMethod), u16(3), 0x1000, "Close"), fields(u16(leafOneMethod), u16(3|4<<2), 0x1000, 8, "Virtual"),
			fields(u16(leafOneMethod), u16(3|6<<2), 0x1000, 8, "Pure"), fields(u16(leafOneMethod), u16(3|5<<2), 0x1000, "Again"),
			fields(u16(leafVFuncTab), u16(0), 0x674), fields(u16(leafVFuncOff), u16(0), 0x674, 8),
			fields(u16(leafBInterface), u16(3), 0x1000, u16(24)), fields(u16(leafIndex), u16(0), 0x1003)),
		entries(fields(u16(leafMember), u16(3), 0x41, u16(32), "last")),       // 0x1003
		entries(fields(u16(leafIndex), u16(0), 0x1004)),                       // 0x1004, of itself
		entries(fields(u16(0x1599), u16(0), 0x1004)),                          // 0x1005, unknown
		entries(fields(u16(leafMember), u16(3), 0x41, u16(32)), []byte{0x41}), // 0x1006, cut off
	)
	read := func(list uint32) (string, error) {
		r := fieldReader{types: types, to: &Layout{Name: "T"}, seen: map[uint32]bool{}}
		err := r.read(t.Context(), list)
		var texts []string
		for _, f := range r.to.Fields {
			texts = append(texts, fmt.Sprintf("%s@%d %s/%s %d %d:%d %t", f.Name, f.Offset, f.Type, f.Of, f.Size, f.Bit, f.Bits, f.Base))
		}
		return strings.Join(texts, "\n"), err
	}
	got, err := read(0x1002)
	want := `Base@0 Base/Base 8 0:0 true
Base@0 Base/Base 8 0:0 true
Base@0 Base/Base 8 0:0 true
count@16 int/ 4 0:0 false
flag@20 unsigned int/ 4 5:3 false
__vfptr@0 void */ 8 0:0 false
Base@24 Base/Base 8 0:0 true
last@32 double/ 8 0:0 false`
	if want = strings.Replace(want, "void */ 8", "int */ 8", 1); got != want || err != nil {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	for list, says := range map[uint32]string{0x1004: "go on in themselves", 0x1005: "cannot be read behind byte", 0x1000: "no list of fields",
		0x1006: "cannot be read behind byte", 0x2000: "no list of fields"} {
		if _, err := read(list); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%#x: %v, want %q", list, err, says)
		}
	}
	if got, err := read(0); got != "" || err != nil {
		t.Errorf("no list: %q, %v", got, err)
	}
}

// Annotations hold numbers of one, two and four bytes, whose sign is in the lowest bit.
func TestAnnotationNumbers(t *testing.T) {
	for _, test := range []struct {
		b    []byte
		want uint32
		left int
		ok   bool
	}{
		{[]byte{0x7F}, 0x7F, 0, true}, {[]byte{0x80, 0x80, 9}, 0x80, 1, true}, {[]byte{0xBF, 0xFF}, 0x3FFF, 0, true},
		{[]byte{0xC1, 2, 3, 4}, 0x1020304, 0, true}, {[]byte{0xDF, 0xFF, 0xFF, 0xFF}, 0x1FFFFFFF, 0, true},
		{[]byte{0x80}, 0, 0, false}, {[]byte{0xC1, 2, 3}, 0, 0, false}, {[]byte{0xE0, 2, 3, 4}, 0, 0, false}, {nil, 0, 0, false},
	} {
		a := annotations{test.b, true}
		if got := a.number(); got != test.want || len(a.b) != test.left || a.ok != test.ok {
			t.Errorf("% x: %#x, %d left, %t", test.b, got, len(a.b), a.ok)
		}
	}
	for v, want := range map[uint32]int32{0: 0, 2: 1, 3: -1, 7: -3} {
		if got := int32(signed(v)); got != want {
			t.Errorf("%d is %d, want %d", v, got, want)
		}
	}
}

// Each operation of annotations begins, ends or moves a range of the inlined call; ranges keep inside the procedure.
func TestAppendRanges(t *testing.T) {
	p := &proc{start: 0x100, end: 0x140}
	for name, test := range map[string]struct {
		ops  []byte
		want string
	}{
		"an offset and a length":               {[]byte{opChangeCodeOffset, 8, opChangeCodeLength, 4}, "[108-10c 0:10]"},
		"the next offset counts from that end": {[]byte{opChangeCodeOffset, 8, opChangeCodeLength, 4, opChangeCodeOffset, 2, opChangeCodeLength, 1}, "[108-10c 0:10] [10e-10f 0:10]"},
		"an offset ends the range before":      {[]byte{opChangeCodeOffset, 8, opChangeCodeOffset, 4, opChangeCodeLength, 4}, "[108-10c 0:10] [10c-110 0:10]"},
		"a length together with an offset":     {[]byte{opCodeLengthAndOffset, 4, 8, opCodeLengthAndOffset, 2, 6}, "[108-10c 0:10] [10e-110 0:10]"},
		"an absolute offset":                   {[]byte{opChangeCodeOffset, 8, opCodeOffset, 16, opChangeCodeLength, 4}, "[108-110 0:10] [110-114 0:10]"},
		"a line, a file":                       {[]byte{opChangeLineOffset, 4, opChangeFile, 24, opChangeCodeOffset, 8, opChangeCodeLength, 4}, "[108-10c 24:12]"},
		"an earlier line":                      {[]byte{opChangeLineOffset, 5, opChangeCodeOffset, 8, opChangeCodeLength, 4}, "[108-10c 0:8]"},
		"line and offset together":             {[]byte{opCodeAndLineOffset, 2<<4 | 8, opChangeCodeLength, 4}, "[108-10c 0:11]"},
		"no length: to the end":                {[]byte{opChangeCodeOffset, 8}, "[108-140 0:10]"},
		"beyond the end":                       {[]byte{opChangeCodeOffset, 0x30, opChangeCodeLength, 0x20}, "[130-140 0:10]"},
		"begins at the end":                    {[]byte{opChangeCodeOffset, 0x40, opChangeCodeLength, 4}, ""},
		"begins before the end":                {[]byte{opChangeCodeOffset, 0x3F, opChangeCodeLength, 4}, "[13f-140 0:10]"},
		"empty":                                {[]byte{opChangeCodeOffset, 8, opChangeCodeLength, 0}, ""},
		"in a block apart":                     {[]byte{opChangeCodeOffsetBase, 1, opChangeCodeOffset, 8, opChangeCodeLength, 4, opChangeCodeOffsetBase, 0, opChangeCodeOffset, 16, opChangeCodeLength, 4}, "[110-114 0:10]"},
		"a block apart ends the range before":  {[]byte{opChangeCodeOffset, 8, opChangeCodeOffset, 2, opChangeCodeOffsetBase, 1}, "[108-10a 0:10]"},
		"columns say nothing":                  {[]byte{annotationLineEnd, 1, annotationRangeKind, 1, annotationColumnStart, 1, annotationColumnEndDelta, 1, opChangeColumnEnd, 1, opChangeCodeOffset, 8, opChangeCodeLength, 4}, "[108-10c 0:10]"},
		"what is unknown ends it":              {[]byte{opChangeCodeOffset, 8, 14, 1, opChangeCodeLength, 4, opChangeCodeOffset, 9}, "[108-140 0:10]"},
		"zeros fill up":                        {[]byte{opChangeCodeOffset, 8, opChangeCodeLength, 4, 0, 0, 0, 5}, "[108-10c 0:10]"},
	} {
		var texts []string
		for _, r := range appendRanges(nil, test.ops, p, inlinee{line: 10}) {
			texts = append(texts, fmt.Sprintf("[%x-%x %d:%d]", r.start, r.end, r.file, r.line))
		}
		if got := strings.Join(texts, " "); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// Records are found by number with an index that is made here, over its first entry and the last record.
func TestRecordsByNumber(t *testing.T) {
	var list [][]byte
	for i := range 2*indexEvery + 3 {
		list = append(list, fields(uint16(0x1000+i), i))
	}
	r := recordsOf(t, list...)
	if len(r.index) != 3*8 {
		t.Errorf("an index of %d bytes", len(r.index))
	}
	for i := range list {
		if kind, b, ok := r.get(firstType + uint32(i)); !ok || kind != uint16(0x1000+i) || len(b) != 4 ||
			binary.LittleEndian.Uint32(b) != uint32(i) {
			t.Fatalf("record %d: %#x, % x, %t", i, kind, b, ok)
		}
	}
	for _, number := range []uint32{0, firstType - 1, firstType + uint32(len(list))} {
		if _, _, ok := r.get(number); ok {
			t.Errorf("a record %#x", number)
		}
	}
	if _, _, ok := (*records)(nil).get(firstType); ok {
		t.Error("a record of none")
	}
	if _, _, ok := (&records{first: firstType, end: firstType + 1}).get(firstType); ok {
		t.Error("a record without an index")
	}
}

// An index counts where it begins with the first record, rises, and leaves no long stretch out.
func TestIndexes(t *testing.T) {
	index := func(pairs ...int) []byte {
		return fields(func() (list []any) {
			for _, p := range pairs {
				list = append(list, p)
			}
			return list
		}()...)
	}
	r := &records{first: firstType, end: firstType + 100, bytes: longestScan + 100}
	for name, test := range map[string]struct {
		index []byte
		want  bool
	}{
		"good":                   {index(firstType, 0, firstType+1, 100), true},
		"as far as it may":       {index(firstType, 0, firstType+1, longestScan), true},
		"none":                   {nil, false},
		"one entry, too far":     {index(firstType, 0), false},
		"another first":          {index(firstType+1, 0, firstType+2, 100), false},
		"not from the beginning": {index(firstType, 4, firstType+1, 100), false},
		"a number twice":         {index(firstType, 0, firstType, 100), false},
		"a place twice":          {index(firstType, 0, firstType+1, 100, firstType+2, 100), false},
		"a gap":                  {index(firstType, 0, firstType+1, longestScan+1), false},
		"the end too far":        {index(firstType, 0, firstType+1, 99), false},
	} {
		if got := r.indexed(test.index); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if !(&records{first: firstType, bytes: longestScan}).indexed(index(firstType, 0)) {
		t.Error("one entry for all is none")
	}
}
