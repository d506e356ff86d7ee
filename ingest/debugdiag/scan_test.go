package debugdiag

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// A pattern is what a scan takes, as a regular expression. Its groups are what the scan returns.
type pattern struct {
	expression string
	scan       func(string) []string // nil where the text does not match
	words      string                // with | between: what texts of the test are made of
}

// one is a scan of one group, which is never empty.
func one(scan func(string) string) func(string) []string {
	return func(text string) []string {
		if found := scan(text); found != "" {
			return []string{found}
		}
		return nil
	}
}

var patterns = map[string]pattern{
	"reportFor":        {`(?i)^report for (.+)$`, one(reportFor), "Report |for |a.dmp|\n| |REPORT"},
	"leakTrackVersion": {`(?i)^LeakTrack Version Loaded: *(\d+(?:\.\d+)*)`, one(leakTrackVersion), "LeakTrack |Version |Loaded:| |1|.|22|x"},
	"sampleTitle":      {`(?i)^(Call stack sample \d+)`, one(sampleTitle), "Call |stack |sample |7|12|x| "},
	"toolVersion": {`(?i)\bDebug ?Diag(?:nostic(?: Tool)?)?,? (?:version |v)(\d+(?:\.\d+)*)`, one(toolVersion),
		"Debug|diag|nostic| Tool|,| |version |v|2|.|31|_|x"},
	"allocationSize": {`(?i)^Allocation Size *[-:] *(.+)$`, one(allocationSize), "Allocation Size|-|:| |1,024|\n"},
	"heapTitle": {"(?i)^heap (?:\\d+ - )?(0x[0-9a-f`]+)(?: ?\\| ?(.+))?$", func(text string) []string {
		if address, name, ok := heapTitle(text); ok {
			return []string{address, name}
		}
		return nil
	}, "Heap |12| - |0x|00`1F|0X|g|| |name|\n|0"},
	"durations": {`(?i)(?:(\d{1,6}) days?(?:\(s\))? )?(\d{1,2}):(\d{2}):(\d{2})`, func(text string) []string {
		if parts, ok := durationParts(text); ok {
			return parts[:]
		}
		return nil
	}, "1|12|123456| day|s|(s)| |:|01:02:03|x"},
	"dumpNames": {`(?i)^(.+?)__PID__(\d{1,10})__(?:Date__(\d{1,2})_(\d{1,2})_(\d{4})__Time_(\d{1,2})_(\d{2})_(\d{2})\s?([AP]M)?)?`,
		func(text string) []string {
			if p, ok := dumpNamePartsOf(text); ok {
				return append(append([]string{p.image, p.pid}, p.clock[:]...), p.half)
			}
			return nil
		}, "app.exe|__PID__|12|__|Date__03_14_2024|__Time_10_22_07|am|PM| |_|\n|1"},
	"oldFacts": {`(?i)<td[^>]*>()(?:\s|&nbsp;|</?(?:b|font|p|span|strong)\b[^>]*>)*Type of Analysis Performed`, func(text string) []string {
		if hasOldFacts(text) {
			return []string{""}
		}
		return nil
	}, "<td|>| |&nbsp;|<b>|</B>|<font x|<br>|<p\n>|<|Type of Analysis Performed|Type |\n"},
}

func (p *pattern) check(t *testing.T, text string) {
	t.Helper()
	want := regexp.MustCompile(p.expression).FindStringSubmatch(text)
	if want != nil {
		want = want[1:]
	}
	got := p.scan(text)
	if (got == nil) != (want == nil) || !strings.EqualFold(strings.Join(got, "|"), strings.Join(want, "|")) {
		t.Errorf("%q: %q, want %q as %s", text, got, want, p.expression)
	}
}

// Scans take what the regular expressions of the same formats take.
func TestScans(t *testing.T) {
	for name, p := range patterns {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			words := strings.Split(p.words, "|")
			matches := 0
			for range 20_000 {
				var text strings.Builder
				next := 0
				for range 1 + random.IntN(2*len(words)) {
					if next >= len(words) || random.IntN(4) == 0 {
						next = random.IntN(len(words))
					}
					word := words[next]
					if next++; word == "" { // what the list cannot have
						word = "|"
					}
					text.WriteString(word)
				}
				p.check(t, text.String())
				if t.Failed() {
					return
				}
				if p.scan(text.String()) != nil {
					matches++
				}
			}
			if matches < 20 {
				t.Errorf("only %d texts match", matches)
			}
		})
	}
}
