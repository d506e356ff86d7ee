package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
)

// segmentTypes are the structures of segment heaps of some builds, by what the source calls the build.
type segmentTypes map[string]map[string]structure

// segmentBuilds says whose structures a 64-bit build has that the kernel's PDB has none of. Of 10586, 14393 and 16299
// no types are public: memory that ntdll of 10586 wrote reads by those of 15063, and 16299 differs from 17134 as
// segment16299 says.
var segmentBuilds = map[int]string{10586: "15063.413", 14393: "15063.413", 15063: "15063.413",
	windows16299: "17134.523", 17134: "17134.523", 17763: "17763.107"}

// readSegment reads lists of types: of each its size, and fields as offset, type, name and the place of bits.
func (s *sources) readSegment(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("-segment: %w", err)
	}
	var builds map[string]json.RawMessage
	if err := json.Unmarshal(text, &builds); err != nil {
		return fmt.Errorf("-segment: %w", err)
	}
	s.segment = segmentTypes{}
	for _, name := range segmentBuilds {
		var types map[string]struct {
			Size   string
			Fields [][]string
		}
		if err := json.Unmarshal(builds[name], &types); err != nil {
			return fmt.Errorf("-segment: build %s: %w", name, err)
		}
		s.segment[name] = map[string]structure{}
		for typ, t := range types {
			size, err := strconv.ParseUint(t.Size, 0, 32)
			if err != nil {
				return fmt.Errorf("-segment: %s of %s: %w", typ, name, err)
			}
			to := structure{size, map[string]uint64{}}
			for _, f := range t.Fields {
				if len(f) < 3 {
					return fmt.Errorf("-segment: %s of %s has a field without a name", typ, name)
				}
				at, err := strconv.ParseUint(f[0], 0, 32)
				if err != nil {
					return fmt.Errorf("-segment: %s.%s of %s: %w", typ, f[2], name, err)
				}
				field, _, _ := strings.Cut(f[2], "[")
				to.fields[field] = at
			}
			s.segment[name][typ] = to
		}
	}
	return nil
}

// addSegment adds the structures of segment heaps to those of a build that has none.
func (s *sources) addSegment(all map[string]structure, b build) {
	if _, known := all["_SEGMENT_HEAP"]; known {
		return
	}
	types := s.segment[segmentBuilds[b.number]]
	if b.arch == "x86" {
		types = smallSegment(b)
	}
	for typ, t := range types {
		if strings.HasPrefix(typ, "_SEGMENT_HEAP") || strings.HasPrefix(typ, "_HEAP_SEG_") ||
			strings.HasPrefix(typ, "_HEAP_PAGE_") || strings.HasPrefix(typ, "_HEAP_VS_") ||
			strings.HasPrefix(typ, "_HEAP_LFH_") || typ == "_HEAP_LARGE_ALLOC_DATA" || typ == "_HEAP_RUNTIME_MEMORY_STATS" ||
			typ == "_RTLP_HP_HEAP_GLOBALS" {
			all[typ] = t
		}
	}
	if t, ok := all["_HEAP_PAGE_SEGMENT"]; ok && t.size < 256*all["_HEAP_PAGE_RANGE_DESCRIPTOR"].size { // a list of it that leaves the descriptors out
		t.fields = maps.Clone(t.fields)
		t.fields["DescArray"] = 0
		t.size = 256 * all["_HEAP_PAGE_RANGE_DESCRIPTOR"].size
		all["_HEAP_PAGE_SEGMENT"] = t
	}
}

// smallSegment are the structures of 10586 to 15063 for 32 bits. No types of them are public: they are those of 15063
// for 64 bits with pointers of 4 bytes, and memory that ntdll of 14393 wrote reads so. Of 16299 for 32 bits nothing is
// known.
func smallSegment(b build) map[string]structure {
	if b.number < 10586 || b.number >= windows16299 {
		return nil
	}
	return map[string]structure{
		"_SEGMENT_HEAP": {0x2f8, map[string]uint64{
			"TotalReservedPages": 0, "TotalCommittedPages": 4, "Signature": 8, "GlobalFlags": 0xc, "FreeCommittedPages": 0x10,
			"LargeAllocMetadata": 0x24, "LargeReservedPages": 0x2c, "LargeCommittedPages": 0x30,
			"SegmentListHead": 0x38, "SegmentCount": 0x40,
		}},
		"_HEAP_PAGE_SEGMENT": {0x1000, map[string]uint64{"ListEntry": 0, "Signature": 8, "DescArray": 0}},
		"_HEAP_PAGE_RANGE_DESCRIPTOR": {0x10, map[string]uint64{"TreeSignature": 0, "ExtraPresent": 4, "UnusedBytes": 6,
			"RangeFlags": 0xc, "Offset": 0xf, "Size": 0xf}},
		"_HEAP_VS_SUBSEGMENT":        {0x18, map[string]uint64{"ListEntry": 0, "Size": 0x14, "Signature": 0x16}},
		"_HEAP_VS_CHUNK_HEADER":      {8, map[string]uint64{"Sizes": 0, "EncodedSegmentPageOffset": 4}},
		"_HEAP_VS_CHUNK_HEADER_SIZE": {4, map[string]uint64{"UnsafeSize": 0, "UnsafePrevSize": 0, "Allocated": 0}},
		"_HEAP_LFH_SUBSEGMENT": {0x28, map[string]uint64{
			"ListEntry": 0, "Owner": 8, "FreeCount": 0x10, "BlockCount": 0x12, "BlockOffsets": 0x18, "CommitUnitShift": 0x1c,
			"CommitUnitCount":   0x1d,
			"CommitStateOffset": 0x1e, "BlockBitmap": 0x20,
		}},
		"_HEAP_LARGE_ALLOC_DATA": {0x14, map[string]uint64{"TreeNode": 0, "VirtualAddress": 0xc, "UnusedBytes": 0xc,
			"ExtraPresent": 0x10, "AllocatedPages": 0x10}},
		"_SEGMENT_HEAP_EXTRA": {8,
			map[string]uint64{"AllocationTag": 0, "InterceptorIndex": 2, "ExtraSizeInUnits": 3, "Settable": 4}},
	}
}

// The builds of Windows 10 1709 and Windows 11 24H2.
const (
	windows16299 = 16299
	windows24H2  = 26100
)

// segment16299 changes structures of 17134 to those of 16299: its contexts of segments end before EnvHandle, so each is
// 16 bytes shorter, and what follows moves up. Memory that ntdll of 16299.15 wrote reads so: the second mask of
// segments is at 0xd8, and each context points to those of VS (0x168) and LFH (0x1e0), whose buckets begin at 0x2b0.
func segment16299(all map[string]structure) {
	change(all, "_HEAP_SEG_CONTEXT", 0x68, nil)
	change(all, "_SEGMENT_HEAP", 0x6c0, map[string]uint64{"VsContext": 0x168, "LfhContext": 0x1e0})
	change(all, "_HEAP_VS_CONTEXT", 0x78,
		map[string]uint64{"SubsegmentList": 0x18, "TotalCommittedUnits": 0x28, "FreeCommittedUnits": 0x30})
	change(all, "_HEAP_LFH_CONTEXT", 0x4e0, map[string]uint64{"Buckets": 0xd0})
}

// change gives a structure another size and some fields other offsets.
func change(all map[string]structure, typ string, size uint64, fields map[string]uint64) {
	t := all[typ]
	t.size, t.fields = size, maps.Clone(t.fields)
	maps.Copy(t.fields, fields)
	all[typ] = t
}

// segment24H2 changes structures of 23H2 to those of 24H2, by published descriptions that agree (Rickebo/ntoskrnlib,
// two write-ups) and by memory that ntdll of 26100.2454 wrote.
func segment24H2(all map[string]structure) {
	change(all, "_SEGMENT_HEAP", 0xa00, map[string]uint64{"LfhContext": 0x340})
	change(all, "_HEAP_PAGE_RANGE_DESCRIPTOR", all["_HEAP_PAGE_RANGE_DESCRIPTOR"].size,
		map[string]uint64{"UnitOffset": 0x1a})
	change(all, "_HEAP_LFH_SUBSEGMENT", 0x48,
		map[string]uint64{"BlockBitmap": 0x40, "CommitStateOffset": 0x18, "CommitUnitShift": 0x26, "CommitUnitCount": 0x27})
}
