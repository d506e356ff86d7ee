package vmmap

import (
	"encoding/xml"
	"math"
	"strconv"
	"strings"
	"time"

	"heapdrift/ingest/capture"
)

// A region is what one element says. Missing attributes are 0.
type region struct {
	address      uint64
	size         int64
	commit       int64
	privateBytes int64
	privateWS    int64
	shareableWS  int64
	id           int64 // of the heap; −1 where the attribute is missing
	use          int64 // as id
	protection   string
	kind         string // attribute Type
	details      string
}

// maxText bounds what is kept of an attribute, in bytes.
const maxText = 512

// numbers are the attributes with a size, in lower case.
var numbers = map[string]func(r *region) *int64{
	"size":         func(r *region) *int64 { return &r.size },
	"commit":       func(r *region) *int64 { return &r.commit },
	"committed":    func(r *region) *int64 { return &r.commit },
	"privatebytes": func(r *region) *int64 { return &r.privateBytes },
	"private":      func(r *region) *int64 { return &r.privateBytes },
	"privatews":    func(r *region) *int64 { return &r.privateWS },
	"shareablews":  func(r *region) *int64 { return &r.shareableWS },
	"id":           func(r *region) *int64 { return &r.id },
	"usetype":      func(r *region) *int64 { return &r.use },
}

// words are the attributes with text.
var words = map[string]func(r *region) *string{
	"protection": func(r *region) *string { return &r.protection },
	"type":       func(r *region) *string { return &r.kind },
	"details":    func(r *region) *string { return &r.details },
}

// parseRegion reads the attributes of a region; ok is false where one of them is no number, or the region has no size.
func parseRegion(attributes []xml.Attr) (r region, ok bool) {
	r.id, r.use, ok = -1, -1, true
	for _, a := range attributes {
		name := strings.ToLower(a.Name.Local)
		if name == "address" {
			address, good := number(a.Value)
			r.address, ok = address, ok && good
			continue
		}
		if field := numbers[name]; field != nil {
			v, good := number(a.Value)
			*field(&r), ok = int64(v), ok && good && v <= math.MaxInt64
		}
		if field := words[name]; field != nil {
			*field(&r) = clip(a.Value)
		}
	}
	return r, ok && r.size > 0 && r.address <= math.MaxUint64-uint64(r.size)
}

// number reads a decimal number, or a hexadecimal one with 0x or a letter among its digits.
func number(s string) (uint64, bool) {
	s = strings.TrimSpace(s)
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		v, err := strconv.ParseUint(s[2:], 16, 64)
		return v, err == nil
	}
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil && strings.ContainsAny(s, "abcdefABCDEF") {
		v, err = strconv.ParseUint(s, 16, 64)
	}
	return v, err == nil
}

func clip(s string) string {
	if len(s) <= maxText {
		return strings.Clone(s)
	}
	return strings.ToValidUTF8(s[:maxText], "")
}

// useTypes are the values of UseType, as PerfView has them; the attribute Type decides where the number is another one.
var useTypes = map[int64]capture.UseName{
	0: capture.UseHeap, 1: capture.UseStack, 2: capture.UseImage, 3: capture.UseMapped, 4: capture.UsePrivate, 5: capture.UseMapped, // 5: shareable
	6: capture.UseFree, 8: capture.UseManaged, 10: capture.UseSystem, // 10: unusable, the rest of a granule of 64 KiB
}

// kinds are the beginnings of Type, in lower case.
var kinds = []struct {
	prefix string
	use    capture.UseName
}{
	{"heap", capture.UseHeap}, {"thread stack", capture.UseStack}, {"stack", capture.UseStack},
	{"image", capture.UseImage}, {"mapped file", capture.UseMapped},
	{"private data", capture.UsePrivate}, {"shareable", capture.UseMapped}, {"free", capture.UseFree},
	{"managed heap", capture.UseManaged},
	{"unusable", capture.UseSystem}, {"page table", capture.UseSystem},
}

// blocks are the beginnings of Details of private data with a use of its own.
var blocks = []struct {
	prefix string
	use    capture.UseName
}{{"thread environment block", capture.UseTEB}, {"process environment block", capture.UsePEB}}

// useOf says what a region is used for; known is false where neither attribute tells.
func useOf(r *region) (use capture.UseName, known bool) {
	use, known = useTypes[r.use]
	if !known {
		for _, k := range kinds {
			if strings.HasPrefix(strings.ToLower(r.kind), k.prefix) {
				use, known = k.use, true
				break
			}
		}
	}
	if use == capture.UsePrivate {
		for _, b := range blocks {
			if strings.HasPrefix(strings.ToLower(r.details), b.prefix) {
				return b.use, true
			}
		}
	}
	if !known {
		return capture.UseSystem, false
	}
	return use, true
}

// protections are the values of winnt.h.
var protections = []struct {
	bit  uint64
	name string
}{
	{0x01, "PAGE_NOACCESS"}, {0x02, "PAGE_READONLY"}, {0x04, "PAGE_READWRITE"},
	{0x08, "PAGE_WRITECOPY"}, {0x10, "PAGE_EXECUTE"},
	{0x20, "PAGE_EXECUTE_READ"}, {0x40, "PAGE_EXECUTE_READWRITE"}, {0x80, "PAGE_EXECUTE_WRITECOPY"}, {0x100, "PAGE_GUARD"},
	{0x200, "PAGE_NOCACHE"}, {0x400, "PAGE_WRITECOMBINE"},
}

// protectionOf names what may be done with a region.
func protectionOf(r *region) string {
	v, ok := number(r.protection)
	if !ok {
		return r.protection
	}
	var names []string
	for _, p := range protections {
		if v&p.bit != 0 {
			names = append(names, p.name)
		}
	}
	return strings.Join(names, " | ")
}

// A process is what the elements around the regions say of it.
type process struct {
	capture.Process
	takenAt time.Time
}

// take looks at the attributes of an element for what they say of the process; versions differ in where they write it.
func (p *process) take(attributes []xml.Attr) {
	for _, a := range attributes {
		switch name := strings.ToLower(a.Name.Local); name {
		case "pid", "processid":
			if v, ok := number(a.Value); ok && v <= math.MaxUint32 {
				p.PID = uint32(v)
			}
		case "process", "processname", "image", "imagename":
			p.Name = clip(a.Value[strings.LastIndexAny(a.Value, `\/`)+1:])
		case "machine", "computer", "computername":
			p.Machine = clip(a.Value)
		case "time", "timestamp", "date", "datetime":
			if at, ok := clock(a.Value); ok {
				p.takenAt = at
			}
		}
	}
}

// layouts are the ways in which a time may be written.
var layouts = []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02T15:04:05",
	"1/2/2006 3:04:05 PM", "1/2/2006 15:04:05"}

// clock reads a time: text, or a FILETIME, which counts 100 ns from 1601.
func clock(s string) (time.Time, bool) {
	if v, ok := number(s); ok {
		const (
			epoch = 116444736000000000 // of 1970 as a FILETIME
			most  = 1 << 62
		)
		if v < epoch || v > most {
			return time.Time{}, false
		}
		ticks := int64(v - epoch)
		return time.Unix(ticks/1e7, ticks%1e7*100).UTC(), true
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, s); err == nil {
			return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(),
				at.Nanosecond(), time.UTC), true
		}
	}
	return time.Time{}, false
}
