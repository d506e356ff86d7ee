package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A structure is where the fields of one structure lie, in bytes.
type structure struct {
	size   uint64
	fields map[string]uint64
}

// A build is one version of Windows for one kind of processor.
type build struct {
	major, minor, number int
	arch                 string // "x86" or "x64"
}

func (b build) String() string { return fmt.Sprintf("%d.%d.%d", b.major, b.minor, b.number) }

// before says whether b came before version 6.minor: Vista, 7, 8 and 8.1 are 6.0 to 6.3.
func (b build) before(minor int) bool {
	return b.major < 6 || b.major == 6 && b.minor < minor
}

// pointer is the size of an address.
func (b build) pointer() uint64 {
	if b.arch == "x64" {
		return 8
	}
	return 4
}

// sources are the facts as they are given: kernel by build, public by PDB, ntdll by processor and version.
type sources struct {
	kernel map[string]map[string]struct {
		Size   uint64
		Fields map[string][2]any // offset, type
	}
	public map[string]struct {
		Types map[string]struct {
			Size   string
			Fields map[string]string
		}
	}
	ntdll   map[string]map[string]map[string]json.RawMessage
	segment segmentTypes
}

func (s *sources) readPublic(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("-public: %w", err)
	}
	if err := json.Unmarshal(text, &s.public); err != nil {
		return fmt.Errorf("-public: %w", err)
	}
	return nil
}

func (s *sources) readNTDLL(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("-ntdll: %w", err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("-ntdll: %w", err)
	}
	s.ntdll = map[string]map[string]map[string]json.RawMessage{}
	for _, name := range []string{"_LFH_HEAP", "_LFH_BLOCK_ZONE", "_HEAP_SUBSEGMENT", "_HEAP_USERDATA_HEADER"} {
		byArch := map[string]map[string]json.RawMessage{}
		fields := map[string]json.RawMessage{}
		if err := json.Unmarshal(all[name], &fields); err != nil {
			return fmt.Errorf("-ntdll: %s: %w", name, err)
		}
		for _, arch := range []string{"x64", "x86"} {
			versions := map[string]json.RawMessage{}
			if err := json.Unmarshal(fields[arch], &versions); err != nil {
				return fmt.Errorf("-ntdll: %s of %s: %w", name, arch, err)
			}
			byArch[arch] = versions
		}
		s.ntdll[name] = byArch
	}
	return nil
}

// builds are those of the kernel's PDBs with their names there, oldest first.
func (s *sources) builds() (map[build][]string, []build, error) {
	names := map[build][]string{}
	for _, name := range slices.Sorted(maps.Keys(s.kernel)) {
		var b build
		var update int
		if _, err := fmt.Sscanf(strings.Replace(name, "-", " ", 1), "%d.%d.%d.%d %s", &b.major, &b.minor, &b.number,
			&update, &b.arch); err != nil {
			return nil, nil, fmt.Errorf("build %q: %w", name, err)
		}
		names[b] = append(names[b], name)
	}
	for _, arch := range []string{"x64"} { // 24H2 has no kernel PDB among the sources: it differs from 23H2 as segment24H2 says
		names[build{10, 0, windows24H2, arch}] = names[build{10, 0, 22631, arch}]
	}
	return names, slices.SortedFunc(maps.Keys(names), func(a, b build) int {
		return cmp.Or(strings.Compare(a.arch, b.arch), cmp.Compare(a.number, b.number))
	}), nil
}

// structures are all that is known of a build.
func (s *sources) structures(name string, b build) (map[string]structure, error) {
	all := map[string]structure{}
	for typ, t := range s.kernel[name] {
		fields := map[string]uint64{}
		for field, place := range t.Fields {
			offset, ok := place[0].(float64)
			if !ok {
				return nil, fmt.Errorf("build %s: %s.%s has no offset", name, typ, field)
			}
			fields[field] = uint64(offset)
		}
		all[typ] = structure{t.Size, fields}
	}
	if b.before(0) {
		delete(all, "_HEAP_SUBSEGMENT") // its blocks have another header, which no public source describes
		delete(all, "_HEAP_USERDATA_HEADER")
		return all, s.addPublic(all, b, "_STACK_TRACE_DATABASE", "_RTL_STACK_TRACE_ENTRY")
	}
	if err := s.addPublic(all, b, "_STACK_TRACE_DATABASE", "_RTL_STACK_TRACE_ENTRY", "_DPH_HEAP_ROOT", "_DPH_HEAP_BLOCK",
		"_DPH_BLOCK_INFORMATION"); err != nil {
		return nil, err
	}
	s.addSegment(all, b)
	switch {
	case b.number == windows24H2:
		segment24H2(all)
	case b.number == windows16299 && b.arch == "x64":
		segment16299(all)
	}
	return all, s.addNTDLL(all, b)
}

// publicPDBs stand for all builds of a processor: the structures that are taken from them are the same in Windows 7 and
// 10.
var publicPDBs = map[string]string{"x64": "ntdll-x64-b.pdb", "x86": "wntdll-x86-b.pdb"}

func (s *sources) addPublic(all map[string]structure, b build, types ...string) error {
	for _, typ := range types {
		t, ok := s.public[publicPDBs[b.arch]].Types[typ]
		if !ok {
			return fmt.Errorf("-public has no %s of %s", typ, b.arch)
		}
		fields := map[string]uint64{}
		for field, place := range t.Fields {
			offset, _, _ := strings.Cut(place, " ") // "0x4 bits 0:11"
			at, err := strconv.ParseUint(offset, 0, 32)
			if err != nil {
				return fmt.Errorf("-public: %s.%s: %w", typ, field, err)
			}
			fields[field] = at
		}
		size, err := strconv.ParseUint(t.Size, 0, 32)
		if err != nil {
			return fmt.Errorf("-public: %s: %w", typ, err)
		}
		all[typ] = structure{size, fields}
	}
	return nil
}
