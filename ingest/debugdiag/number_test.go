package debugdiag

import (
	"testing"
	"time"

	"heapdrift/ingest/debugdiag/debugdiagtest"
)

func TestParseCount(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int64
		rest string
		ok   bool
	}{
		{"05", 5, "", true},
		{"00 allocation(s)", 0, " allocation(s)", true},
		{"1,234,567 allocation(s)", 1234567, " allocation(s)", true},
		{"1.234 handle(s)", 1234, " handle(s)", true},
		{"1\u2019234", 1234, "", true},
		{"12 345 678 allocations", 12345678, " allocations", true},
		{"12 34", 12, " 34", true},
		{"12,34,567", 1234567, "", true},
		{"9999999999999999999999", 0, "", false},
		{"99999999999999", 0, "", false},
		{"", 0, "", false},
		{"-5", 0, "-5", false},
		{"several", 0, "several", false},
	} {
		n, rest, ok := parseCount(c.text)
		if ok != c.ok || ok && (n != c.n || rest != c.rest) {
			t.Errorf("%q: %d %q %v", c.text, n, rest, ok)
		}
	}
}

func TestParseSize(t *testing.T) {
	for _, c := range []struct {
		text string
		want span
		ok   bool
	}{
		{"576 Bytes", span{576, 576, 576}, true},
		{"1024 Bytes", span{1024, 1024, 1024}, true},
		{"1,024 Bytes", span{1024, 1024, 1024}, true},
		{"1.024 Bytes", span{1024, 1024, 1024}, true},
		{"1 KBytes", span{1025, 1025, 1030}, true},
		{"3.58 MBytes", span{3753902, 3748659, 3759145}, true},
		{"3,58 MBytes", span{3753902, 3748659, 3759145}, true},
		{"148 MBytes (12% of all)", span{155189248, 155184005, 155194491}, true},
		{"1.024,5 KBytes", span{1049088, 1049082, 1049094}, true}, // not DebugDiag's: more than its unit
		{"1024 KBytes", span{1 << 20, 1<<20 - 6, 1 << 20}, true},
		{"0.5 KB", span{512, 506, 518}, true},
		{"0 Bytes", span{}, true},
		{"128 TBytes", span{1 << 47, 1<<47 - 5497558139, 1<<47 + 5497558139}, true},
		{"999999 TBytes", span{}, false},
		{"12 apples", span{}, false},
		{"MBytes", span{}, false},
		{"-3 MBytes", span{}, false},
	} {
		s, ok := parseSize(c.text)
		if ok != c.ok || ok && s != c.want {
			t.Errorf("%q: %+v %v, want %+v", c.text, s, ok, c.want)
		}
	}
}

// TestSizesAreCovered: whatever a size is, it lies between the bounds of what is printed for it, in every culture.
func TestSizesAreCovered(t *testing.T) {
	for _, culture := range []debugdiagtest.Culture{debugdiagtest.English, debugdiagtest.German,
		debugdiagtest.French, debugdiagtest.Swiss} {
		for bytes := int64(0); bytes < 1<<46; bytes += 1 + bytes/97 {
			for _, b := range []int64{bytes, bytes - 1, bytes &^ 1023, bytes &^ (1<<20 - 1)} {
				text := culture.Size(max(b, 0))
				s, ok := parseSize(text)
				if !ok || max(b, 0) < s.low || max(b, 0) > s.high || s.at < s.low || s.at > s.high {
					t.Fatalf("%d is printed as %q and read as %+v, %v", b, text, s, ok)
				}
				if n, _, ok := parseCount(culture.Count(max(b, 0) >> 8)); !ok || n != max(b, 0)>>8 {
					t.Fatalf("%q is read as %d", culture.Count(max(b, 0)>>8), n)
				}
			}
		}
	}
}

func TestParseDuration(t *testing.T) {
	for _, c := range []struct {
		text     string
		seconds  int64
		doubtful bool
		ok       bool
	}{
		{"1 day(s) 02:30:25", 95425, false, true},
		{"00:30:20 since tracking started", 1820, false, true},
		{"1 day(s) 14:24:00", 51840, false, true}, // 0.6 days, rounded up
		{"2 day(s) 12:00:01", 129601, false, true},
		{"2 day(s) 12:00:00", 129600, true, true}, // 1.5 days, or 2.5
		{"12:00:00", 43200, false, true},
		{"25:00:00", 0, false, false},
		{"soon", 0, false, false},
	} {
		d, doubtful, ok := parseDuration(c.text)
		if ok != c.ok || int64(d/time.Second) != c.seconds || doubtful != c.doubtful {
			t.Errorf("%q: %v %v %v", c.text, d, doubtful, ok)
		}
	}
}

// TestDurationsReturn: a printed duration is read back. One time of day is ambiguous: it may be read a day short and is
// then marked as doubtful.
func TestDurationsReturn(t *testing.T) {
	for d := time.Duration(0); d < 30*24*time.Hour; d += 1799 * time.Second {
		got, doubtful, ok := parseDuration(debugdiagtest.Duration(d))
		if !ok || got != d && (!doubtful || got+24*time.Hour != d) {
			t.Fatalf("%v is printed as %q and read as %v", d, debugdiagtest.Duration(d), got)
		}
	}
	for day := range 40 {
		d := time.Duration(day)*24*time.Hour + 12*time.Hour
		got, doubtful, ok := parseDuration(debugdiagtest.Duration(d))
		if !ok || got != d && (!doubtful || got+24*time.Hour != d) {
			t.Fatalf("%v is printed as %q and read as %v", d, debugdiagtest.Duration(d), got)
		}
	}
}

func TestParseDumpName(t *testing.T) {
	at := func(month time.Month, day, hour int) time.Time {
		return time.Date(2024, month, day, hour, 22, 7, 0, time.UTC)
	}
	for name, want := range map[string]dumpName{
		"leakyapp.exe__PID__4660__Date__03_14_2024__Time_10_22_07AM__511__Manual Dump.dmp": {"leakyapp.exe", 4660,
			at(3, 14, 10)},
		`C:\dumps\a.exe__PID__1__Date__03_14_2024__Time_12_22_07AM__5__Leak.dmp`: {"a.exe", 1, at(3, 14, 0)},
		"a.exe__PID__1__Date__03_14_2024__Time_12_22_07PM__5__Leak.dmp":          {"a.exe", 1, at(3, 14, 12)},
		"a.exe__PID__1__Date__03_14_2024__Time_13_22_07__5__Leak.dmp":            {"a.exe", 1, at(3, 14, 13)},
		"a.exe__PID__1__Date__13_14_2024__Time_10_22_07AM__5__Leak.dmp":          {"a.exe", 1, time.Time{}},
		"a.exe__PID__1__Date__02_30_2024__Time_10_22_07AM__5__Leak.dmp":          {"a.exe", 1, time.Time{}},
		"a.exe__PID__1__Date__02_03_2024__Time_00_22_07AM__5__Leak.dmp":          {"a.exe", 1, time.Time{}},
		"a.exe__PID__9999999999__":                                               {image: "a.exe"},
		"app.dmp":                                                                {},
		"":                                                                       {},
	} {
		if got := parseDumpName(name); got != want {
			t.Errorf("%q: %+v", name, got)
		}
	}
}

func TestSectionTopic(t *testing.T) {
	for id, want := range map[string]topic{
		"AllocSummaryB1C1D3": topicLeakTotals, "ModReportMemB12C3D14": topicLeakMemory,
		"ModReportHandleB1C1D3": topicLeakHandles, "TopComittedB1C2D3": topicHeapCommitted,
		"B1C1D3": topicNone, "warningsAnalysisSummarySection": topicWarnings, "Table_Summary": topicRules,
		"VMSummary": topicSpaceTotals, "": topicNone, "1": topicNone, "SomethingB1": topicNone,
	} {
		if got := sectionTopic(id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}

func TestAnchorNumber(t *testing.T) {
	for anchor, want := range map[string]uint64{
		"#a.dmpModule140703397052416": 140703397052416, "#Module.dmpHandleModule16": 16,
		"#a.dmpModule9007199254740991": 1<<53 - 1,
		"#a.dmpModule9007199254740992": 0, "#a.dmpModule1.4E+15": 0, "#a.dmpModule": 0, "#a.dmpFunction5": 0, "": 0,
	} {
		if got := anchorNumber(anchor, "Module"); got != want {
			t.Errorf("%q: %d", anchor, got)
		}
	}
}
