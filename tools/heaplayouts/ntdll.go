package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// ntdllVersion names the version, as the source spells it, that stands for a build: Windows Vista and 7, 8.0, and 8.1
// to 11.
func ntdllVersion(typ string, b build) string {
	windows7, windows80 := b.before(2), b.before(3)
	switch {
	case typ == "_LFH_BLOCK_ZONE" && windows80:
		return "win7/8.0"
	case windows7:
		return "win7"
	case typ == "_LFH_HEAP" && b.arch == "x64":
		return "win8+ (to 11)"
	case typ == "_LFH_HEAP":
		return "win8+ (to 10)"
	case typ == "_HEAP_SUBSEGMENT":
		return "win8+"
	}
	return "win8.1+"
}

// addNTDLL adds what only ntdll has.
func (s *sources) addNTDLL(all map[string]structure, b build) error {
	for typ, byArch := range s.ntdll {
		t, err := version(byArch[b.arch], ntdllVersion(typ, b))
		if err != nil {
			return fmt.Errorf("-ntdll: %s of %s %s: %w", typ, b, b.arch, err)
		}
		if at, ok := t.fields["EncodedOffsets"]; ok && b.before(3) {
			// Windows 8.0 has two plain numbers where 8.1 has them encoded; of its bitmap nothing is known.
			t.fields["FirstAllocationOffset"] = at
			delete(t.fields, "EncodedOffsets")
			delete(t.fields, "BitmapData")
		}
		if heap, ok := t.fields["Heap"]; ok && typ == "_LFH_HEAP" && !b.before(3) {
			// Two addresses behind, as the memory of Windows 8.1 to 11 has it; PDBs that list the structure are not public.
			t.fields["FirstUncommittedAddress"] = heap + 2*b.pointer()
		}
		all[typ] = t
	}
	return nil
}

// version decodes one version: names of fields and hexadecimal offsets, some of them with a remark in the name.
func version(versions map[string]json.RawMessage, name string) (structure, error) {
	var fields map[string]string
	if err := json.Unmarshal(versions[name], &fields); err != nil {
		return structure{}, fmt.Errorf("version %q: %w", name, err)
	}
	t := structure{fields: map[string]uint64{}}
	for field, text := range fields {
		at, err := strconv.ParseUint(text, 0, 32)
		if err != nil {
			return structure{}, fmt.Errorf("field %s: %w", field, err)
		}
		switch field, _, _ = strings.Cut(field, "("); field {
		case "size":
			t.size = at
		case "size=first block":
			t.size = at
		case "subsegments_start":
			t.fields["Subsegments"] = at
		default:
			t.fields[field] = at
		}
	}
	return t, nil
}
