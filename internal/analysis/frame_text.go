package analysis

import (
	"strconv"
	"strings"
)

// Name prints a frame as debuggers do: module!function, module+0xRVA, or the bare address.
func (f *Frame) Name() string {
	switch {
	case f.Function != "" && f.Module == "":
		return f.Function
	case f.Function != "":
		return f.Module + "!" + f.Function
	case f.Module != "":
		return f.Module + "+" + f.Offset
	}
	return f.Address
}

// SearchTexts are the texts that people look for a frame by: its module with the function, or its module alone where
// the function is not known, and its file's name.
func (f *Frame) SearchTexts() []string {
	names := make([]string, 0, 2)
	switch {
	case f.Function != "":
		names = append(names, f.Name())
	case f.Module != "":
		names = append(names, f.Module)
	}
	if f.File != "" {
		names = append(names, f.File[strings.LastIndexAny(f.File, `\/`)+1:])
	}
	return names
}

// FileLine prints a frame's file, without its path, and line; "" where they are not known.
func (f *Frame) FileLine() string {
	if f.File == "" {
		return ""
	}
	return f.File[strings.LastIndexAny(f.File, `\/`)+1:] + ":" + strconv.FormatUint(uint64(f.Line), 10)
}

// notReturned is the offset of a frame of which a log names only the function, as of a frame without a module.
const notReturned = "0x0"

// OffsetText is the offset behind the function's name, such as "+0x1f"; "" where it is part of Name already, and for
// frames that have none.
func (f *Frame) OffsetText() string {
	if f.Function == "" || f.Offset == "" || f.Inline || f.Module == "" && f.Offset == notReturned {
		return ""
	}
	return "+" + f.Offset
}

// Text prints a frame in full, with offset, file and line where they are known.
func (f *Frame) Text() string {
	s := f.Name() + f.OffsetText()
	if f.File != "" {
		s += " (" + f.File + ", " + strconv.FormatUint(uint64(f.Line), 10) + ")"
	}
	return s
}

func hexNumber(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }
