package flags

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// The types of values in the registry that record changes, of winnt.h.
const (
	typeString = 1 // REG_SZ, in UTF-16, as gflags writes numbers
	typeDWord  = 4 // REG_DWORD, little-endian
)

// A Value is the content of a value in the registry, exactly as it is there.
type Value struct {
	Type uint32 `json:"type"` // REG_SZ is 1, REG_DWORD is 4
	Data []byte `json:"data"`
}

// dword is a value of type REG_DWORD.
func dword(n uint32) Value {
	return Value{typeDWord, binary.LittleEndian.AppendUint32(nil, n)}
}

// number is what Windows reads from the value: strings are hexadecimal after 0x, else decimal.
func (v *Value) number() (uint32, error) {
	switch {
	case v.Type == typeDWord && len(v.Data) == 4:
		return binary.LittleEndian.Uint32(v.Data), nil
	case v.Type == typeString:
		n, err := strconv.ParseUint(v.text(), 0, 32)
		if err != nil {
			return 0, fmt.Errorf("%q is not a number", v.text())
		}
		return uint32(n), nil
	}
	return 0, fmt.Errorf("type %d with %d bytes is not a number", v.Type, len(v.Data))
}

// text is the text of a REG_SZ, up to its terminator.
func (v *Value) text() string {
	var units []uint16
	for i := 0; i+1 < len(v.Data); i += 2 {
		u := binary.LittleEndian.Uint16(v.Data[i:])
		if u == 0 {
			break
		}
		units = append(units, u)
	}
	return strings.TrimSpace(string(utf16.Decode(units)))
}

// with is the value with another number. It keeps its type, which other programs may expect.
func (v *Value) with(n uint32) Value {
	if v == nil || v.Type != typeString {
		return dword(n)
	}
	var data []byte
	for _, u := range utf16.Encode([]rune(fmt.Sprintf("0x%08x\x00", n))) {
		data = binary.LittleEndian.AppendUint16(data, u)
	}
	return Value{typeString, data}
}

// String shows the value; "absent" or the like for nil.
func (v *Value) String() string {
	if v == nil {
		return "absent"
	}
	if n, err := v.number(); err == nil {
		return fmt.Sprintf("%#x", n)
	}
	return fmt.Sprintf("type %d, % x", v.Type, v.Data)
}

// decimal shows a value that is a size.
func (v *Value) decimal() string {
	if v != nil {
		if n, err := v.number(); err == nil {
			return strconv.FormatUint(uint64(n), 10)
		}
	}
	return v.String()
}

// equal reports whether two values, which may be absent, are the same.
func equal(a, b *Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Type == b.Type && string(a.Data) == string(b.Data)
}
