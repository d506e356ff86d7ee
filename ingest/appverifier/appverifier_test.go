package appverifier_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"heapdrift/ingest/appverifier"
	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/internal/corpus"
	"heapdrift/internal/golden"
)

// sample is a log as appverif exports it: sessions of three processes, of which the second found nothing.
const sample = `<?xml version="1.0" encoding="UTF-8" standalone="no" ?>
<avrf:logfile xmlns:avrf="Application Verifier">
  <avrf:logSession TimeStarted="2024-03-05 : 10:20:30" PID="7132" Version="2">
    <avrf:logEntry Time="2024-03-05 : 10:21:00" LayerName="Leak" StopCode="0x900" Severity="Error">
      <avrf:message>A heap allocation was leaked.</avrf:message>
      <avrf:parameter1>1c0adbe0 - Address of the leaked allocation. Run !heap -p -a &lt;address&gt; to get additional information.</avrf:parameter1>
      <avrf:parameter2>582d0bc - Address to the allocation stack trace.</avrf:parameter2>
      <avrf:parameter3>40 - Size of the allocation.</avrf:parameter3>
      <avrf:parameter4>60aa0000 - Base of the owner dll.</avrf:parameter4>
      <avrf:stackTrace>
        <avrf:trace>vfbasics!+7ff8bd1c4e10 ( @ 0)</avrf:trace>
        <avrf:trace>ntdll!RtlAllocateHeap+3d ( @ 0)</avrf:trace>
        <avrf:trace>app!operator new+1a (c:\Program Files (x86)\src\new.cpp @ 34)</avrf:trace>
        <avrf:trace>app!std::function&lt;void (int)&gt;::operator()+7 (c:\src\f.h @ 9)</avrf:trace>
        <avrf:trace>???</avrf:trace>
      </avrf:stackTrace>
    </avrf:logEntry>
    <avrf:logEntry Time="2024-03-05 : 10:22:00" LayerName="Leak" StopCode="0x901" Severity="Error">
      <avrf:message>A handle was leaked.</avrf:message>
      <avrf:parameter1>1c4 - Value of the handle.</avrf:parameter1>
    </avrf:logEntry>
    <avrf:logEntry Time="2024-03-05 : 10:22:01" LayerName="Leak" StopCode="0x903" Severity="Error">
      <avrf:message>A virtual reservation was leaked.</avrf:message>
      <avrf:parameter1>what - Address of the leaked reservation.</avrf:parameter1>
      <avrf:stackTrace><avrf:trace>app!Map+10 ( @ 0)</avrf:trace></avrf:stackTrace>
    </avrf:logEntry>
    <avrf:logEntry Time="2024-03-05 : 10:23:00" LayerName="Handles" StopCode="0x300" Severity="Error">
      <avrf:message>Invalid handle exception
        for current stack trace.</avrf:message>
      <avrf:formatmessage>Handle 0x40.</avrf:formatmessage>
      <avrf:stackTrace><avrf:trace>app!Close+10 ( @ 0)</avrf:trace></avrf:stackTrace>
    </avrf:logEntry>
    <avrf:logEntry Time="2024-03-05 : 10:23:00" LayerName="Handles" StopCode="0x300" Severity="Error">
      <avrf:message>Invalid handle exception for current stack trace.</avrf:message>
      <avrf:formatmessage>Handle 0x40.</avrf:formatmessage>
      <avrf:stackTrace><avrf:trace>app!Close+10 ( @ 0)</avrf:trace></avrf:stackTrace>
    </avrf:logEntry>
    <avrf:logEntry Time="2024-03-05 : 10:19:00" LayerName="HighVersionLie" StopCode="0x2204" Severity="Information">
      <avrf:message>Called the GetVersion API.</avrf:message>
    </avrf:logEntry>
  </avrf:logSession>
  <avrf:logSession TimeStarted="2024-03-06 : 10:20:30" PID="7133" Version="2">
  </avrf:logSession>
  <avrf:logSession TimeStarted="2024-03-07 : 10:20:30" PID="0x1BDE" Version="2">
    <avrf:logEntry LayerName="Locks" StopCode="0x201" Severity="Warning">
      <avrf:message>Unloading DLL that contains an active critical section.</avrf:message>
    </avrf:logEntry>
  </avrf:logSession>
</avrf:logfile>
`

const wanted = `appverifier-log Application Verifier pid 7132, 64 bits, at 2024-03-05T10:23:00, lower bound false
sample heap allocation (stop 0x900): 0x1c0adbe0, 64 bytes, "Application Verifier says: A heap allocation was leaked.": 7ff8bd1c4e10 vfbasics!+0 < 0 ntdll!RtlAllocateHeap+3d < 0 app!operator new+1a (c:\Program Files (x86)\src\new.cpp:34) < 0 app!std::function<void (int)>::operator()+7 (c:\src\f.h:9)
sample handle (stop 0x901): 0x0, 0 bytes, "Application Verifier says: A handle was leaked. Its value is 0x1c4.": 
sample virtual reservation (stop 0x903): 0x0, 0 bytes, "Application Verifier says: A virtual reservation was leaked.": 0 app!Map+10
note error: Application Verifier says (layer Handles, stop 0x300): Invalid handle exception for current stack trace. Handle 0x40. Called from app!Close+10 ( @ 0). 2 times.
note info: Application Verifier says (layer HighVersionLie, stop 0x2204): Called the GetVersion API.
malformed (1, ): 1 frames were not understood, and are missing in their stacks
malformed (1, ): 1 leaks have no address, or one that is no number
stack-missing (1, ): 1 leaks have no stack; let Application Verifier log stacks, and put the PDBs on the symbol path for the export
appverifier-log Application Verifier pid 7134, 0 bits, at 2024-03-07T10:20:30, lower bound false
note warning: Application Verifier says (layer Locks, stop 0x201): Unloading DLL that contains an active critical section.
`

func read(t testing.TB, log string) []*capture.Capture {
	t.Helper()
	captures, err := appverifier.Read(t.Context(), strings.NewReader(log))
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return captures
}

// renderAll writes what captures say, one fact a line.
func renderAll(captures []*capture.Capture) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	for _, c := range captures {
		line("%s %s pid %d, %d bits, at %s, lower bound %t", c.Kind, c.Memory.Source, c.Process.PID, c.Process.Bits,
			c.Snapshots[0].TakenAt.Format("2006-01-02T15:04:05"), c.Snapshots[0].LowerBound)
		for _, s := range c.Memory.Samples {
			line("sample %s: %#x, %d bytes, %q: %s", s.Title, s.Address, s.Size, s.Note, stack(c, s.Stack))
		}
		for _, n := range c.Memory.Notes {
			line("note %s: %s", n.Topic, n.Text)
		}
		for _, w := range c.Warnings {
			line("%s (%d, %s): %s", w.Code, w.Count, w.Place, w.Message)
		}
	}
	return out.String()
}

func stack(c *capture.Capture, id capture.StackID) string {
	var frames []string
	for _, f := range c.Stacks.Stack(id) {
		frame := c.Stacks.Frame(f)
		s := fmt.Sprintf("%x", frame.Address)
		if text := c.Stacks.Text(frame); text != nil {
			s += fmt.Sprintf(" %s!%s+%x", text.Module, text.Function, text.Offset)
			if text.File != "" {
				s += fmt.Sprintf(" (%s:%d)", text.File, text.Line)
			}
		}
		frames = append(frames, s)
	}
	return strings.Join(frames, " < ")
}

func TestSample(t *testing.T) {
	if got := renderAll(read(t, sample)); got != wanted {
		t.Errorf("got:\n%s", got)
	}
}

// The sample of the package comment is read as a log.
func TestSampleOfComment(t *testing.T) {
	got := renderAll(read(t, golden.Samples(t, "appverifier.go", "package")[0]))
	const want = `appverifier-log Application Verifier pid 7132, 0 bits, at 2024-03-05T10:21:00, lower bound false
sample heap allocation (stop 0x900): 0x1412abe0, 0 bytes, "Application Verifier says: A heap allocation was leaked.": 0 app!Cache::Fill+1f (c:\src\cache.cpp:12)
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestEncodings(t *testing.T) {
	units := utf16.Encode([]rune("\uFEFF" + strings.Replace(sample, "UTF-8", "UTF-16", 1)))
	utf16le := make([]byte, 2*len(units))
	for i, u := range units {
		binary.LittleEndian.PutUint16(utf16le[2*i:], u)
	}
	for name, in := range map[string][]byte{
		"with a mark":            []byte("\uFEFF" + sample),
		"UTF-16":                 utf16le,
		"copied from a browser":  []byte(strings.ReplaceAll(sample, "    <avrf:logEntry", "  - <avrf:logEntry")),
		"with another prefix":    []byte(strings.ReplaceAll(sample, "avrf:", "")),
		"with CR LF at line end": []byte(strings.ReplaceAll(sample, "\n", "\r\n")),
	} {
		captures, err := appverifier.Read(t.Context(), iotest.HalfReader(bytes.NewReader(in)))
		if got := renderAll(captures); err != nil || got != wanted {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
		if name != "with another prefix" && !appverifier.Sniff(in) {
			t.Errorf("%s: not recognised", name)
		}
	}
}

// A log that is cut anywhere gives samples of the whole log, and says that it is cut.
func TestCutAnywhere(t *testing.T) {
	whole := read(t, sample)
	for n := range strings.LastIndex(sample, "</avrf:logfile>") {
		captures, err := appverifier.Read(t.Context(), strings.NewReader(sample[:n]))
		var ours *evidence.Error
		if len(captures) == 0 {
			if !errors.As(err, &ours) || ours.Code != appverifier.CodeNoData {
				t.Fatalf("cut at %d: %v", n, err)
			}
			continue
		}
		for i, s := range captures[0].Memory.Samples {
			if s != whole[0].Memory.Samples[i] {
				t.Fatalf("cut at %d: sample %+v, want %+v", n, s, whole[0].Memory.Samples[i])
			}
		}
		last := captures[len(captures)-1]
		if !slices.ContainsFunc(last.Warnings, func(w capture.Warning) bool { return w.Code == capture.Truncated }) {
			t.Fatalf("cut at %d, and not said: %v", n, last.Warnings)
		}
	}
}

const entry = `<logfile><logSession PID="1"><logEntry StopCode="0x900"><message>m</message></logEntry>`

func TestWarnings(t *testing.T) {
	for name, test := range map[string]struct {
		tail string
		code capture.Code
	}{
		"an attribute without an end": {`<logEntry Time="` + strings.Repeat("9", 3<<20), capture.Truncated},
		"a text without an end":       {`<logEntry><message>` + strings.Repeat("9", 3<<20), capture.Malformed},
		"elements that lie deep":      {strings.Repeat("<a>", 1000), capture.Malformed},
		"the end missing":             {`<logEntry StopCode="0x900">`, capture.Truncated},
		"a tag that is none":          {`<logEntry <<>`, capture.Truncated},
	} {
		c := read(t, entry+test.tail)[0]
		if !slices.ContainsFunc(c.Warnings, func(w capture.Warning) bool { return w.Code == test.code }) ||
			len(c.Memory.Samples) != 1 {
			t.Errorf("%s: no %s in %v, %d samples", name, test.code, c.Warnings, len(c.Memory.Samples))
		}
	}
}

// A session keeps 10,000 leaks, of each 256 frames, and says where there are more.
func TestLimits(t *testing.T) {
	const most, mostFrames = 10_000, 256
	for _, n := range []int{most - 1, most, most + 1} {
		c := read(t, `<logfile><logSession PID="1">`+strings.Repeat(`<logEntry StopCode="0x900"><message>m</message></logEntry>`, n)+
			`<logEntry StopCode="0x7"><message>n</message></logEntry></logSession></logfile>`)[0]
		dropped := slices.IndexFunc(c.Warnings, func(w capture.Warning) bool { return w.Code == capture.Truncated })
		if m := c.Memory; len(m.Samples) != min(n, most) || len(m.Notes) != 1 || (dropped < 0) != (n <= most) ||
			dropped >= 0 && c.Warnings[dropped].Count != 1 {
			t.Errorf("%d leaks: %d samples, %d notes, %v", n, len(m.Samples), len(m.Notes), c.Warnings)
		}
	}
	for _, n := range []int{mostFrames - 1, mostFrames, mostFrames + 1} {
		c := read(t, `<logfile><logSession PID="1"><logEntry StopCode="0x900">`+strings.Repeat("<trace>a!b+1</trace>", n)+
			"</logEntry></logSession></logfile>")[0]
		got := c.Memory.Samples[0]
		if said := strings.Contains(got.Note, "Frames beyond 256 are left out."); said != (n > mostFrames) ||
			len(c.Stacks.Stack(got.Stack)) != min(n, mostFrames) {
			t.Errorf("%d frames: %d are kept, %q", n, len(c.Stacks.Stack(got.Stack)), got.Note)
		}
	}
}

// 4 KiB are kept of a text, in one piece or in two.
func TestTextIsBounded(t *testing.T) {
	for _, n := range []int{4095, 4096, 4097} {
		text := strings.Repeat("x", n)
		for _, pieces := range []string{text, text[:3000] + "<!-- -->" + text[3000:]} {
			got := read(t, strings.Replace(entry, ">m<", ">"+pieces+"<", 1))[0].Memory.Samples[0].Note
			if want := "Application Verifier says: " + text[:min(n, 4096)]; got != want {
				t.Errorf("%d bytes: %d are kept", n, len(got)-len(want)+min(n, 4096))
			}
		}
	}
	text := strings.Repeat("x", 4095)
	got := read(t, strings.Replace(entry, ">m<", ">"+text+"ä<", 1))[0].Memory.Samples[0].Note
	if got != "Application Verifier says: "+text {
		t.Errorf("a character is cut: %q", got[4000:])
	}
}

func TestEntitiesAreNotExpanded(t *testing.T) {
	bomb := `<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>` +
		strings.Replace(entry, ">m<", ">&b;<", 1)
	if got := read(t, bomb)[0].Memory.Samples[0].Note; got != "Application Verifier says: &b;" {
		t.Errorf("the entity became %q", got)
	}
}

func TestErrors(t *testing.T) {
	var ours *evidence.Error
	for log, code := range map[string]string{
		"": appverifier.CodeNoData, "<root/>": appverifier.CodeNoData, "hello": appverifier.CodeNoData,
		`<logfile><logSession PID="1">`:                        appverifier.CodeNoData,
		`<logfile><logSession PID="1"></logSession></logfile>`: appverifier.CodeNoStops,
	} {
		if _, err := appverifier.Read(t.Context(), strings.NewReader(log)); !errors.As(err, &ours) || ours.Code != code ||
			!strings.Contains(err.Error(), "appverif -") {
			t.Errorf("%q: %v", log, err)
		}
	}
	failed := errors.New("the disk is gone")
	captures, err := appverifier.Read(t.Context(), io.MultiReader(strings.NewReader(entry), iotest.ErrReader(failed)))
	if len(captures) != 1 || !errors.As(err, &ours) || ours.Code != appverifier.CodeReadFailed || !errors.Is(err, failed) {
		t.Errorf("a reader that fails: %d captures, %v", len(captures), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := appverifier.Read(ctx, strings.NewReader(sample)); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

func TestSniff(t *testing.T) {
	for text, want := range map[string]bool{
		sample: true, sample[:200]: true, "": false, "<root/>": false, "Application Verifier logfile": false,
		"<Snapshot><Region UseType='1'/></Snapshot>": false,
	} {
		if appverifier.Sniff([]byte(text)) != want {
			t.Errorf("%.40q is taken for a log: %t", text, !want)
		}
	}
}

// The published shape of a log of the layer Leak, in which words stand for the numbers.
func TestPublishedShape(t *testing.T) {
	text, err := os.ReadFile(corpus.Path(t, "umdh", "related", "appverifier.leak-layer.schema.excerpt.xml"))
	if err != nil {
		t.Fatal(err)
	}
	got := renderAll(read(t, string(text)))
	if !appverifier.Sniff(text) ||
		!strings.Contains(got,
			`sample heap allocation (stop 0x900): 0x0, 0 bytes, "Application Verifier says: A heap allocation was leaked."`) {
		t.Errorf("got:\n%s", got)
	}
}

func Example() {
	captures, err := appverifier.Read(context.Background(), strings.NewReader(sample))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range captures[0].Memory.Samples {
		fmt.Println(s.Title, capture.Address(s.Address), s.Size)
	}
	// Output:
	// heap allocation (stop 0x900) 0x1c0adbe0 64
	// handle (stop 0x901) 0x0 0
	// virtual reservation (stop 0x903) 0x0 0
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(sample))
	f.Fuzz(func(t *testing.T, in []byte) {
		appverifier.Sniff(in)
		captures, err := appverifier.Read(t.Context(), bytes.NewReader(in))
		if err == nil && len(captures) == 0 {
			t.Error("nothing read and nothing said")
		}
		for _, c := range captures {
			var artifact bytes.Buffer
			if err := c.Write(&artifact); err != nil {
				t.Fatal(err)
			}
			if _, err := capture.Read(&artifact); err != nil {
				t.Fatalf("%v in\n%s", err, renderAll(captures))
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	start := strings.Index(sample, "    <avrf:logEntry")
	end := strings.Index(sample, "</avrf:logEntry>") + len("</avrf:logEntry>\n")
	log := sample[:start] + strings.Repeat(sample[start:end], 5000) + "</avrf:logSession></avrf:logfile>"
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := appverifier.Read(b.Context(), strings.NewReader(log)); err != nil {
			b.Fatal(err)
		}
	}
}
