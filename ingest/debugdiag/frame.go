package debugdiag

import (
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
)

// A frame is a frame of a stack: text, or an address alone.
type frame struct {
	text    capture.FrameText
	address uint64
}

// same reports whether two frames are one place; only one of them may know its source.
func (f frame) same(g frame) bool {
	a, b := f.text, g.text
	return a.Module == b.Module && a.Function == b.Function && a.Offset == b.Offset && f.address == g.address
}

func (f frame) intern(s *capture.Stacks) capture.FrameID {
	if f.text == (capture.FrameText{}) {
		return s.AddAddress(f.address)
	}
	return s.AddText(f.text, f.address)
}

// ParseFrame reads a frame as DebugDiag prints it, with or without its source. Offsets are hexadecimal without 0x, line
// numbers decimal. address is 0 where the frame has a name.
//
//	leaky!Cache::Add<int>+34                                  module, function, offset
//	leaky+1a30                                                no symbols: the offset is from the module's beginning
//	0x79E8C582                                                neither: the Text is empty
//	[DEFAULT] [hasThis] Boolean A.B.Read(Object,I4)           managed, with conventions and the type that is returned
//	System_Data_ni!A.B.Read(System.Object)+12                 managed, of a native image
//	d:\src\leaky\cache.cpp @ 118                              source
func ParseFrame(name, source string) (text capture.FrameText, address uint64, ok bool) {
	name = strings.TrimSpace(name)
	text.File, text.Line = parseSource(source)
	if address, _, ok := parseAddress(name); ok {
		return capture.FrameText{}, address, true
	}
	if managed, ok := managedName(name); ok {
		text.Function = managed
		return text, 0, true
	}
	body, offset, placed := cutOffset(name)
	module, function, found := strings.Cut(body, "!")
	switch {
	case found && module != "" && function != "" && !strings.ContainsAny(module, "<>(:"):
		text.Module, text.Function, text.Offset = module, function, offset
	case placed && body != "" && !strings.ContainsAny(body, " <>(!:"):
		text.Module, text.Offset = body, offset
	case strings.Contains(name, "(") || strings.Contains(name, "::"): // a managed or a nameless module's function
		text.Function, text.Offset = body, offset
	default:
		return capture.FrameText{}, 0, false
	}
	return text, 0, true
}

// cutOffset takes "+1a30" off a name. Operators end in a "+" of their own, and none in a number.
func cutOffset(name string) (body string, offset uint64, found bool) {
	at := strings.LastIndexByte(name, '+')
	if at <= 0 {
		return name, 0, false
	}
	digits := strings.TrimPrefix(strings.ToLower(name[at+1:]), "0x")
	offset, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return name, 0, false
	}
	return name[:at], offset, true
}

// managedName takes the calling convention and the type that is returned off a method of .NET 1.x and 2.0:
// "[DEFAULT] [hasThis] Class System.Data.DataSet A.B.Fill(String)" is A.B.Fill(String).
func managedName(name string) (readable string, ok bool) {
	if !strings.HasPrefix(name, "[") {
		return "", false
	}
	for strings.HasPrefix(name, "[") {
		_, rest, closed := strings.Cut(name, "]")
		if !closed {
			return "", false
		}
		name = strings.TrimSpace(rest)
	}
	open := strings.IndexByte(name, '(')
	if open < 0 {
		open = len(name)
	}
	if blank := strings.LastIndexByte(name[:open], ' '); blank >= 0 {
		name = name[blank+1:]
	}
	return name, name != ""
}

// parseSource reads "d:\src\leaky\cache.cpp @ 118", and "+ 3" behind it, which is the distance in bytes from that line.
func parseSource(source string) (file string, line uint32) {
	file, number, found := strings.Cut(strings.TrimSpace(source), " @ ")
	if !found {
		return "", 0
	}
	n, err := strconv.ParseUint(number[:digitsAt(number)], 10, 32)
	if err != nil || file == "" {
		return "", 0
	}
	return file, uint32(n)
}
