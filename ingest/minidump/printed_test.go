package minidump_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/minidump"
	"heapdrift/internal/corpus"
)

// A printedSection is a section of what minidump_dump of Breakpad prints: "MDRawThread" and the like, with its fields.
type printedSection struct {
	title  string
	fields map[string]string
}

// parsePrinted reads the output of minidump_dump. Fields are indented, and titles are not.
func parsePrinted(text string) (sections []printedSection) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if name, value, ok := strings.Cut(line, " = "); ok && strings.HasPrefix(line, "  ") && len(sections) > 0 {
			sections[len(sections)-1].fields[strings.TrimSpace(name)] = value
		} else if line != "" && line[0] != ' ' && !strings.HasPrefix(line, "0x") {
			sections = append(sections, printedSection{line, map[string]string{}})
		}
	}
	return sections
}

// number is the first word of a field: decimal, or 0x and hex.
func (p printedSection) number(t *testing.T, field string) uint64 {
	t.Helper()
	value, ok := p.fields[field]
	if !ok {
		t.Fatalf("%s has no field %s: %v", p.title, field, p.fields)
	}
	word, _, _ := strings.Cut(value, " ")
	v, err := strconv.ParseUint(word, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// text is a field without its quotes.
func (p printedSection) text(field string) string { return strings.Trim(p.fields[field], `"`) }

func parseUint(t *testing.T, s string, base int) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(s, base, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// What minidump_dump prints of a dump is what this package reads: every field of every section that this package knows.
func TestExpectedTextDump(t *testing.T) {
	text, err := os.ReadFile(corpus.Path(t, "dumps", "breakpad", "minidump2.dump.out"))
	if err != nil {
		t.Fatal(err)
	}
	d := open(t, corpusFile(t, "breakpad", "minidump2.dmp"))
	modules, err1 := d.Modules()
	threads, err2 := d.Threads()
	exception, err3 := d.Exception()
	process, err4 := d.Process()
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			t.Fatal(err)
		}
	}
	checked := map[string]int{}
	var p printedSection
	equal := func(field string, got uint64) {
		t.Helper()
		if want := p.number(t, field); got != want {
			t.Errorf("%s %d: %s is %#x, not %#x", p.title, checked[p.title], field, got, want)
		}
	}
	same := func(field, got string) {
		t.Helper()
		if want := p.text(field); got != want {
			t.Errorf("%s %d: %s is %q, not %q", p.title, checked[p.title], field, got, want)
		}
	}
	contexts := 0 // of threads, and then that of the exception
	for _, p = range parsePrinted(string(text)) {
		n := checked[p.title]
		switch p.title {
		case "MDRawHeader":
			h := d.Header()
			equal("version", uint64(h.Version))
			equal("stream_count", uint64(h.Streams))
			equal("time_date_stamp", uint64(h.Time.Unix()))
			equal("flags", uint64(h.Flags))
		case "MDRawDirectory":
			if strings.Contains(p.fields["stream_type"], "UNUSED") {
				continue
			}
			s := d.Streams()[n]
			equal("stream_type", uint64(s.Type))
			equal("location.data_size", uint64(s.Size))
			equal("location.rva", uint64(s.Offset))
		case "MinidumpThreadList":
			equal("thread_count", uint64(len(threads)))
		case "MDRawThread":
			thread := threads[n]
			equal("thread_id", uint64(thread.ID))
			equal("suspend_count", uint64(thread.Suspend))
			equal("priority_class", uint64(thread.PriorityClass))
			equal("priority", uint64(thread.Priority))
			equal("teb", thread.TEB)
			equal("stack.start_of_memory_range", thread.Stack.Address)
			equal("stack.memory.data_size", thread.Stack.Size)
			equal("thread_context.data_size", uint64(thread.Context.Size))
			equal("thread_context.rva", uint64(thread.Context.Offset))
		case "MDRawContextX86":
			var r minidump.Registers
			var err error
			if contexts < len(threads) {
				r, err = d.Registers(threads[contexts])
			} else {
				r, err = d.ExceptionRegisters(exception)
			}
			contexts++
			if err != nil {
				t.Fatal(err)
			}
			equal("context_flags", uint64(r.Flags))
			equal("eip", r.IP)
			equal("esp", r.SP)
			equal("ebp", r.FP)
			for i, name := range []string{"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"} {
				equal(name, r.General[i])
			}
		case "MinidumpModuleList":
			equal("module_count", uint64(len(modules)))
		case "MDRawModule":
			m := modules[n]
			equal("base_of_image", m.Base)
			equal("size_of_image", m.Size)
			equal("checksum", uint64(m.Checksum))
			equal("time_date_stamp", uint64(m.Timestamp))
			same("(code_file)", m.Path)
			same("(code_identifier)", fmt.Sprintf("%08X%x", m.Timestamp, m.Size))
			same("(version)", m.FileVersion)
			if _, ok := p.fields["(cv_record).age"]; ok {
				equal("(cv_record).age", uint64(m.Age))
				same("(cv_record).pdb_file_name", m.PDB)
			}
			same("(debug_identifier)", m.DebugID)
		case "MinidumpMemoryList":
			equal("region_count", uint64(len(d.Memory().Ranges())))
		case "MDMemoryDescriptor":
			want := d.Memory().Ranges()
			at, size := p.number(t, "start_of_memory_range"), p.number(t, "memory.data_size")
			found := false
			for _, r := range want {
				found = found || r.Address == at && r.Size == size
			}
			if !found {
				t.Errorf("%#x+%#x is not in %+v", at, size, want)
			}
		case "MDException":
			equal("thread_id", uint64(exception.Thread))
			equal("exception_record.exception_code", uint64(exception.Code))
			equal("exception_record.exception_flags", uint64(exception.Flags))
			equal("exception_record.exception_address", exception.Address)
			equal("exception_record.number_parameters", uint64(len(exception.Parameters)))
			equal("exception_record.exception_information[ 0]", exception.Parameters[0])
			equal("exception_record.exception_information[ 1]", exception.Parameters[1])
			equal("thread_context.data_size", uint64(exception.Context.Size))
			equal("thread_context.rva", uint64(exception.Context.Offset))
		case "MDRawSystemInfo":
			s := d.System()
			same("processor_architecture", "0x0 ("+s.Arch.String()+")")
			equal("number_of_processors", uint64(s.Processors))
			equal("product_type", uint64(s.Product))
			equal("major_version", uint64(s.Major))
			equal("minor_version", uint64(s.Minor))
			equal("build_number", uint64(s.Build))
			same("(csd_version)", s.ServicePack)
		case "MDRawMiscInfo":
			equal("process_id", uint64(process.PID))
			equal("process_create_time", uint64(process.Created.Unix()))
			equal("process_user_time", uint64(process.User/time.Second))
			equal("process_kernel_time", uint64(process.Kernel/time.Second))
		default:
			continue
		}
		checked[p.title]++
	}
	for title, want := range map[string]int{"MDRawHeader": 1, "MDRawDirectory": 7, "MinidumpThreadList": 1,
		"MDRawThread": 2, "MDRawContextX86": 3, "MinidumpModuleList": 1,
		"MDRawModule": 13, "MinidumpMemoryList": 1, "MDMemoryDescriptor": 3, "MDException": 1,
		"MDRawSystemInfo": 1, "MDRawMiscInfo": 1} {
		if checked[title] != want {
			t.Errorf("%d sections %s were compared, not %d", checked[title], title, want)
		}
	}
}

// The bytes of memory are those that minidump_dump prints.
func TestExpectedMemory(t *testing.T) {
	text, err := os.ReadFile(corpus.Path(t, "dumps", "breakpad", "minidump2.dump.out"))
	if err != nil {
		t.Fatal(err)
	}
	d := open(t, corpusFile(t, "breakpad", "minidump2.dmp"))
	var at uint64
	compared := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if start, ok := strings.CutPrefix(line, "start_of_memory_range = "); ok {
			at = parseUint(t, start[2:], 16)
		}
		if !strings.HasPrefix(line, "0x") || at == 0 {
			continue
		}
		want := line[2:]
		b := make([]byte, len(want)/2)
		if _, err := d.Memory().ReadMemory(b, at); err != nil || fmt.Sprintf("%x", b) != want {
			t.Errorf("%#x: %v, got %x", at, err, b)
		}
		at, compared = 0, compared+1
	}
	if compared != 3 {
		t.Errorf("%d regions were compared", compared)
	}
}
