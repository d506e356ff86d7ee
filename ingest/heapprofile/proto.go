package heapprofile

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
)

// The fields of profile.proto that are read (github.com/google/pprof/blob/main/proto/profile.proto).
const (
	profileSampleType  = 1
	profileSample      = 2
	profileMapping     = 3
	profileLocation    = 4
	profileFunction    = 5
	profileStringTable = 6
	profileTimeNanos   = 9
	profilePeriod      = 12
	profileLastField   = 15 // doc_url

	sampleLocation, sampleValue                         = 1, 2
	mappingID, mappingStart, mappingLimit               = 1, 2, 3
	mappingOffset, mappingFile                          = 4, 5
	locationID, locationMapping, locationAddress        = 1, 2, 3
	locationLine                                        = 4
	lineFunction, lineLine                              = 1, 2
	functionID, functionName, functionSystem, functionF = 1, 2, 3, 4
)

// Limits of profile.proto, whose strings may come behind all that names them.
const (
	mostProto     = 1 << 28 // bytes, unpacked
	mostLocations = 1 << 20
	mostStrings   = 1 << 20
	mostLines     = 1 << 21 // of all locations together
	mostTypes     = 64      // of samples; tcmalloc and Go write 4
)

// betweenChecks is after how many records the context is asked again.
const betweenChecks = 1 << 12

// sniffProto reports whether a file begins as profile.proto, unpacked: nothing but its fields, and a sample type.
func sniffProto(head []byte) bool {
	types, m := 0, message{head, false}
	for len(m.rest) > 0 {
		f, ok := m.next()
		if !ok {
			break
		}
		if f.number == 0 || f.number > profileLastField {
			return false
		}
		if f.number == profileSampleType {
			if f.wire != wireBytes || !isValueType(f.bytes) {
				return false
			}
			types++
		}
		isMessage := f.number <= profileStringTable || f.number == 11
		if isMessage && f.wire != wireBytes {
			return false
		}
	}
	return types > 0 && (!m.broken || len(head) >= sniffed)
}

// isValueType reports whether bytes are two numbers of strings.
func isValueType(b []byte) bool {
	m := message{b, false}
	for len(m.rest) > 0 {
		if f, ok := m.next(); !ok || f.wire != wireNumber || f.number != 1 && f.number != 2 {
			return false
		}
	}
	return len(b) > 0
}

// A protoProfile is a binary profile while it is read.
type protoProfile struct {
	data      []byte
	strings   []string
	types     [][2]uint64 // number of the string of type and unit
	mappings  map[uint64]int
	modules   []protoModule
	functions map[uint64]protoFunction
	locations map[uint64]protoLocation
	lines     int                          // of all locations
	made      map[uint64][]capture.FrameID // the frames of locations
	period    int64
	taken     int64 // ns since 1970; 0 unknown

	count, size int  // places of the values of live blocks
	raw         bool // the values are those of the sample
	wrong       tally
	lost        int64
	cut         bool
}

type protoModule struct {
	file             uint64 // number of its name
	base, start, end uint64
}

type protoFunction struct{ name, file uint64 }

type protoLocation struct {
	mapping, address uint64
	lines            []protoLine // the innermost first
}

type protoLine struct{ function, line uint64 }

func readProto(ctx context.Context, r io.Reader, name string) ([]*capture.Capture, error) {
	data, err := io.ReadAll(io.LimitReader(r, mostProto+1))
	if err != nil {
		return nil, failure(ctx, err, 0)
	}
	if len(data) > mostProto {
		return nil, &evidence.Error{Code: CodeTooLarge, Message: "the binary profile is larger than 256 MB unpacked",
			Do: "write a profile with a higher sampling rate, or as text"}
	}
	p := &protoProfile{data: data, functions: map[uint64]protoFunction{}, locations: map[uint64]protoLocation{},
		made: map[uint64][]capture.FrameID{}, mappings: map[uint64]int{}}
	if err := p.tables(ctx); err != nil {
		return nil, err
	}
	if refused := p.choose(); refused != nil {
		return nil, refused
	}
	c, err := p.capture(ctx)
	if err != nil {
		return nil, err
	}
	nameProcess(c, name)
	return []*capture.Capture{c}, nil
}

// tables reads everything but the samples.
func (p *protoProfile) tables(ctx context.Context) error {
	m := message{p.data, false}
	for n := 0; ; n++ {
		if n%betweenChecks == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		f, ok := m.next()
		if !ok {
			p.cut = m.broken
			return nil
		}
		switch f.number {
		case profileSampleType:
			if len(p.types) == mostTypes {
				return &evidence.Error{Code: CodeTooLarge, Message: fmt.Sprintf("the binary profile has more than %d sample types", mostTypes),
					Offset: int64(len(p.data) - len(m.rest)), Do: "write a heap profile as the allocator does, with 2 or 4 of them"}
			}
			p.sampleType(f.bytes)
		case profileMapping:
			p.mapping(f.bytes)
		case profileLocation:
			p.location(f.bytes)
		case profileFunction:
			p.function(f.bytes)
		case profileStringTable:
			if len(p.strings) < mostStrings {
				p.strings = append(p.strings, validText(f.bytes, longestFunction))
			} else {
				p.lost++
			}
		case profileTimeNanos:
			p.taken = int64(f.value)
		case profilePeriod:
			p.period = int64(f.value)
		}
	}
}

func (p *protoProfile) sampleType(b []byte) {
	var t [2]uint64
	eachField(b, func(f field) {
		if f.number == 1 || f.number == 2 {
			t[f.number-1] = f.value
		}
	})
	p.types = append(p.types, t)
}

// string is a string of the table; its first is empty.
func (p *protoProfile) string(n uint64) string {
	if n >= uint64(len(p.strings)) {
		return ""
	}
	return p.strings[n]
}

// mapping keeps a module, whose name may stand behind it.
func (p *protoProfile) mapping(b []byte) {
	var id, offset uint64
	var m protoModule
	eachField(b, func(f field) {
		switch f.number {
		case mappingID:
			id = f.value
		case mappingStart:
			m.start = f.value
		case mappingLimit:
			m.end = f.value
		case mappingOffset:
			offset = f.value
		case mappingFile:
			m.file = f.value
		}
	})
	if len(p.modules) == mostModules {
		p.lost++
		return
	}
	if m.end <= m.start || offset > m.start {
		return
	}
	m.base = m.start - offset
	p.mappings[id] = len(p.modules)
	p.modules = append(p.modules, m)
}

func (p *protoProfile) location(b []byte) {
	if len(p.locations) == mostLocations {
		p.lost++
		return
	}
	var id uint64
	var l protoLocation
	eachField(b, func(f field) {
		switch f.number {
		case locationID:
			id = f.value
		case locationMapping:
			l.mapping = f.value
		case locationAddress:
			l.address = f.value
		case locationLine:
			var line protoLine
			eachField(f.bytes, func(f field) {
				switch f.number {
				case lineFunction:
					line.function = f.value
				case lineLine:
					line.line = f.value
				}
			})
			switch {
			case len(l.lines) == mostFrames:
			case p.lines == mostLines:
				p.lost++
			default:
				l.lines = append(l.lines, line)
				p.lines++
			}
		}
	})
	l.lines = slices.Clone(l.lines) // to its length
	p.locations[id] = l
}

func (p *protoProfile) function(b []byte) {
	if len(p.functions) == mostLocations {
		p.lost++
		return
	}
	var id uint64
	var fn protoFunction
	eachField(b, func(f field) {
		switch f.number {
		case functionID:
			id = f.value
		case functionName:
			fn.name = f.value
		case functionSystem:
			if fn.name == 0 {
				fn.name = f.value
			}
		case functionF:
			fn.file = f.value
		}
	})
	p.functions[id] = fn
}

// choose finds the values that count live blocks. tcmalloc has objects and space, Go and others inuse_objects and
// inuse_space: estimates both, as profile_builder.cc and runtime/pprof make them. mimalloc calls the bytes inuse_bytes,
// and counts the samples themselves (pprof.c).
func (p *protoProfile) choose() *evidence.Error {
	if len(p.strings) == 0 {
		return &evidence.Error{Code: CodeNoData, Message: "the binary profile ends before its names", Offset: int64(len(p.data)),
			Do: "write the profile again, or give the whole file"}
	}
	p.count, p.size = -1, -1
	have := make([]string, len(p.types))
	for i, t := range p.types {
		name := p.string(t[0])
		have[i] = name
		switch name {
		case "objects", "inuse_objects":
			p.count = i
		case "space", "inuse_space":
			p.size = i
		case "inuse_bytes":
			p.size, p.raw = i, true
		}
	}
	if p.count < 0 || p.size < 0 {
		return &evidence.Error{Code: CodeNotLive, Message: "the profile does not count held blocks; it has " + validText([]byte(strings.Join(have, ", ")), 200),
			Do: "write a heap profile: its samples have inuse_objects and inuse_space, or objects and space"}
	}
	return nil
}
