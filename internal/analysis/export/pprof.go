package export

import (
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"

	"heapdrift/internal/analysis"
)

// The fields of profile.proto that are written (github.com/google/pprof/blob/main/proto/profile.proto). The package of
// google/pprof reads every format of profiles as well, which would be 0.1 MB of the client.
const (
	profileSampleType  = 1
	profileSample      = 2
	profileMapping     = 3
	profileLocation    = 4
	profileFunction    = 5
	profileString      = 6
	profileDuration    = 10 // ns
	profilePeriodType  = 11
	profilePeriod      = 12
	profileComment     = 13
	profileDefaultType = 14

	valueType, valueUnit                                       = 1, 2
	sampleLocations, sampleValues, sampleLabel                 = 1, 2, 3
	labelKey, labelText                                        = 1, 2
	mappingID, mappingStart, mappingLimit                      = 1, 2, 3
	mappingFile, mappingBuildID                                = 5, 6
	mappingHasFunctions, mappingHasInline                      = 7, 10 // all from one to the other
	locationID, locationMapping, locationAddress, locationLine = 1, 2, 3, 4
	lineFunction, lineLine                                     = 1, 2
	functionID, functionName, functionSystem, functionFile     = 1, 2, 3, 4
)

// A message is a protobuf message.
type message []byte

// number appends a field with a number, which is left out where it is 0.
func (m *message) number(field int, v uint64) {
	if v != 0 {
		*m = binary.AppendUvarint(binary.AppendUvarint(*m, uint64(field)<<3), v)
	}
}

// bytes appends a field with bytes: a text or a message.
func (m *message) bytes(field int, b []byte) {
	*m = binary.AppendUvarint(binary.AppendUvarint(*m, uint64(field)<<3|2), uint64(len(b)))
	*m = append(*m, b...)
}

// numbers appends a field with a list of numbers.
func (m *message) numbers(field int, list []uint64) {
	var b []byte
	for _, v := range list {
		b = binary.AppendUvarint(b, v)
	}
	m.bytes(field, b)
}

// pprof writes a profile.proto in gzip: a sample for each site, with its heap, kind, class and signature as labels.
// Growth may be negative there.
func pprof(w io.Writer, r *analysis.Report, _ Options) error {
	z := gzip.NewWriter(w)
	b := pprofBuilder{report: r, out: z, strings: map[string]uint64{}, modules: map[string]*pprofModule{},
		functions: map[pprofFunction]uint64{}, locations: map[string]uint64{}}
	b.string("") // the first of the table
	b.write(r)
	if b.err == nil {
		b.err = z.Close()
	}
	if b.err != nil {
		return fmt.Errorf("export: write pprof: %w", b.err)
	}
	return nil
}

// pprofFunction is what tells functions apart.
type pprofFunction struct{ name, file string }

type pprofModule struct{ id, start, end uint64 }

// A pprofBuilder writes each string, mapping, function and location once, before what refers to it.
type pprofBuilder struct {
	report    *analysis.Report
	out       io.Writer
	err       error // the first of out
	strings   map[string]uint64
	modules   map[string]*pprofModule
	functions map[pprofFunction]uint64
	locations map[string]uint64 // by the numbers of their frames
}

// field writes a field of the profile: a message or a text.
func (b *pprofBuilder) field(number int, content []byte) {
	var m message
	m.bytes(number, content)
	b.raw(m)
}

func (b *pprofBuilder) raw(m message) {
	if b.err == nil {
		_, b.err = b.out.Write(m)
	}
}

// string is the number of a text in the table.
func (b *pprofBuilder) string(s string) uint64 {
	n, there := b.strings[s]
	if !there {
		n = uint64(len(b.strings))
		b.strings[s] = n
		b.field(profileString, []byte(s))
	}
	return n
}

// valueType is the type of a value.
func (b *pprofBuilder) valueType(name, unit string) (m message) {
	m.number(valueType, b.string(name))
	m.number(valueUnit, b.string(unit))
	return m
}

// write writes the whole profile.
func (b *pprofBuilder) write(r *analysis.Report) {
	all := measures(r)
	for _, m := range all {
		b.field(profileSampleType, b.valueType(m.pprofType, m.pprofUnit))
	}
	var head message
	head.number(profileDefaultType, b.string(all[0].pprofType))
	if r.Window != nil {
		head.number(profileDuration, uint64(r.Window.DurationNS))
	} else if n := len(r.Snapshots); n > 0 {
		head.number(profileDuration, uint64(r.Snapshots[n-1].AtNS-r.Snapshots[0].AtNS))
	}
	head.bytes(profilePeriodType, b.valueType("space", "bytes"))
	head.number(profilePeriod, 1)
	head.numbers(profileComment, []uint64{b.string(r.Verdict.Sentence)})
	b.raw(head)
	b.addModules()
	for i := range r.Sites {
		s := &r.Sites[i]
		var sample message
		sample.numbers(sampleLocations, b.stack(s.Stack))
		values := make([]uint64, len(all))
		for i, m := range all {
			values[i] = uint64(m.of(s))
		}
		sample.numbers(sampleValues, values)
		for _, l := range []struct{ name, text string }{
			{"class", string(s.Verdict)}, {"heap", s.Heap}, {"kind", s.Kind}, {"signature", s.Signature},
		} {
			if l.text != "" {
				var label message
				label.number(labelKey, b.string(l.name))
				label.number(labelText, b.string(l.text))
				sample.bytes(sampleLabel, label)
			}
		}
		b.field(profileSample, sample)
	}
}

// addModules writes a mapping of each module, with the id of its PDB.
func (b *pprofBuilder) addModules() {
	for i := range b.report.Modules {
		m := &b.report.Modules[i]
		mapping := &pprofModule{id: uint64(i + 1)}
		if base, ok := address(m.Base); ok {
			mapping.start, mapping.end = base, base+m.Size
		}
		var field message
		field.number(mappingID, mapping.id)
		field.number(mappingStart, mapping.start)
		field.number(mappingLimit, mapping.end)
		field.number(mappingFile, b.string(m.Name))
		field.number(mappingBuildID, b.string(m.DebugID))
		for has := mappingHasFunctions; has <= mappingHasInline; has++ {
			field.number(has, 1)
		}
		b.field(profileMapping, field)
		if _, there := b.modules[m.Name]; !there {
			b.modules[m.Name] = mapping
		}
	}
}

// stack is the ids of the locations of a stack, innermost first. Inlined calls stand in one location with the call that
// they were inlined into.
func (b *pprofBuilder) stack(ref analysis.StackRef) []uint64 {
	var locations []uint64
	numbers := b.report.Stacks.FrameNumbers(ref)
	for from := 0; from < len(numbers); {
		to := from + 1
		for to < len(numbers) && b.report.Stacks.Frame(numbers[to-1]).Inline {
			to++
		}
		locations = append(locations, b.location(numbers[from:to]))
		from = to
	}
	return locations
}

func (b *pprofBuilder) location(numbers []uint32) uint64 {
	key := fmt.Sprint(numbers)
	if id := b.locations[key]; id != 0 {
		return id
	}
	id := uint64(len(b.locations) + 1)
	b.locations[key] = id
	var m message
	var module *pprofModule
	var at uint64
	for _, n := range numbers {
		f := b.report.Stacks.Frame(n)
		var line message
		line.number(lineFunction, b.function(pprofFunction{f.Name(), f.File}))
		line.number(lineLine, uint64(f.Line))
		m.bytes(locationLine, line)
		module = b.modules[f.Module]
		if address, ok := address(f.Address); ok {
			at = address
		}
	}
	if module != nil && (at < module.start || at >= module.end) { // of another life of the process
		at = 0
	}
	m.number(locationID, id)
	m.number(locationMapping, cmp.Or(module, &pprofModule{}).id)
	m.number(locationAddress, at)
	b.field(profileLocation, m)
	return id
}

func (b *pprofBuilder) function(key pprofFunction) uint64 {
	id, there := b.functions[key]
	if !there {
		id = uint64(len(b.functions) + 1)
		b.functions[key] = id
		var m message
		m.number(functionID, id)
		m.number(functionName, b.string(key.name))
		m.number(functionSystem, b.string(key.name))
		m.number(functionFile, b.string(key.file))
		b.field(profileFunction, m)
	}
	return id
}

// address reads an address as reports write it.
func address(text string) (uint64, bool) {
	at, err := strconv.ParseUint(text, 0, 64)
	return at, err == nil
}
