package analysis

import (
	"strings"
	"testing"
)

func TestParseThreshold(t *testing.T) {
	bytes := func(n float64, unit string) Threshold { return Threshold{Growth: Growth{n, unit}} }
	for text, want := range map[string]Threshold{
		"10MB/day": bytes(10<<20, "day"), "1.5 kb / hour": bytes(1536, "hour"), "0/run": bytes(0, "run"), "7B/document": bytes(7, "document"),
		"2GB/day": bytes(2<<30, "day"), "12/run": bytes(12, "run"), "1KB/page in a book": {Growth: Growth{1024, "page in a book"}},
		"5%/day": {Growth: Growth{Unit: "day"}, Percent: 5}, " 0.5 % / document": {Growth: Growth{Unit: "document"}, Percent: 0.5},
		"2GB in 30 days":     {Growth: Growth{Unit: "day"}, HeldBytes: 2 << 30, HeldWithinUnits: 30},
		"512 MB in 1.5 hour": {Growth: Growth{Unit: "hour"}, HeldBytes: 512 << 20, HeldWithinUnits: 1.5},
	} {
		got, err := ParseThreshold(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if again, err := ParseThreshold(got.Text()); err != nil || again != got {
			t.Errorf("%s is written as %q: %+v, %v", text, got.Text(), again, err)
		}
	}
	for _, text := range []string{"", "10MB", "10MB/", "/day", "MB/day", "-1/day", "Inf/day", "NaN/day", "10TB/day", "1e400/day", "1/a\x00b",
		"0%/day", "-1%/day", "Inf%/day", "%/day", "5%", "5% in 30 days", "2GB in", "2GB in days", "2GB in 0 days", "2GB in -1 days",
		"2GB in Inf days", "0GB in 30 days", "2GB in 30 documents", "2GB in 30"} {
		if got, err := ParseThreshold(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// What is set decides where the evidence tells its unit; a call may only tighten it.
func TestMatters(t *testing.T) {
	const defaults = "10.0 MB per day (the default"
	ask := func(text, by string, source ThresholdSource) *RequestedThreshold {
		if text == "" {
			return nil
		}
		threshold, err := ParseThreshold(text)
		if err != nil {
			t.Fatal(err)
		}
		return &RequestedThreshold{Threshold: threshold, Source: source, By: by}
	}
	watch := &Observation{Weighed: true, Hours: 12, Unit: "document", Work: 1024, HeldBytes: 100 << 20}
	for _, test := range []struct {
		set, call string
		want      Growth
		source    ThresholdSource
		sentence  string
	}{
		{"", "", mattersByDay, ThresholdOfDefault, defaults + ")"},
		{"1MB/day", "", Growth{1 << 20, "day"}, ThresholdOfProject, "1.00 MB per day (set for the project)"},
		{"20MB/day", "", Growth{20 << 20, "day"}, ThresholdOfProject, "20.0 MB per day (set for the project)"},
		{"1KB/page", "", mattersByDay, ThresholdOfDefault,
			defaults + "; 1.00 KB per page, set for the project, is ignored: the evidence has no growth per page)"},
		{"", "1MB/day", Growth{1 << 20, "day"}, ThresholdOfCall, "1.00 MB per day (asked for by the call, less than " + defaults[:len("10.0 MB per day")] + ", the default)"},
		{"", "11MB/day", mattersByDay, ThresholdOfDefault,
			defaults + "; 11.0 MB per day, asked for by the call, is ignored: a call may only lower this)"},
		{"", "1/page", mattersByDay, ThresholdOfDefault,
			defaults + "; 1 B per page, asked for by the call, is ignored: the evidence has no growth per page)"},
		// 24 MB a day are 12 MB in the run, of 1024 documents.
		{"24MB/day", "1023KB/hour", Growth{1023 << 10, "hour"}, ThresholdOfCall,
			"1.00 MB per hour (asked for by the call, less than 24.0 MB per day, set for the project)"},
		{"24MB/day", "1MB/hour", Growth{24 << 20, "day"}, ThresholdOfProject, "24.0 MB per day (set for the project)"},
		{"24MB/day", "1025KB/hour", Growth{24 << 20, "day"}, ThresholdOfProject,
			"24.0 MB per day (set for the project; 1.00 MB per hour, asked for by the call, is ignored: a call may only lower this)"},
		{"24MB/day", "12287B/document", Growth{12287, "document"}, ThresholdOfCall,
			"12.0 KB per document (asked for by the call, less than 24.0 MB per day, set for the project)"},
		{"12KB/document", "12MB/run", Growth{12 << 10, "document"}, ThresholdOfProject, "12.0 KB per document (set for the project)"},
		{"1KB/page", "9MB/day", Growth{9 << 20, "day"}, ThresholdOfCall,
			"9.00 MB per day (asked for by the call, less than 10.0 MB per day, the default; 1.00 KB per page, set for the project, is ignored: the evidence has no growth per page)"},
		{"5%/day", "", Growth{5 << 20, "day"}, ThresholdOfProject, "5.00 MB per day (5 % of the memory held per day, set for the project)"},
		{"5%/page", "", mattersByDay, ThresholdOfDefault,
			defaults + "; 5 % of the memory held per page, set for the project, is ignored: the evidence has no value for that)"},
		{"160MB in 30 days", "", Growth{2 << 20, "day"}, ThresholdOfProject,
			"2.00 MB per day (160 MB held within 30 days, set for the project)"},
		{"100MB in 1 hour", "", Growth{0, "hour"}, ThresholdOfProject, "0 B per hour (100 MB held within 1 hour, set for the project)"},
		{"99MB in 1 hour", "", Growth{0, "hour"}, ThresholdOfProject, "0 B per hour (99.0 MB held within 1 hour, set for the project)"},
		{"6MB/day", "5%/day", Growth{5 << 20, "day"}, ThresholdOfCall,
			"5.00 MB per day (5 % of the memory held per day, asked for by the call, less than 6.00 MB per day, set for the project)"},
	} {
		got := watch.ChooseThreshold(ask(test.set, "set for the project", ThresholdOfProject),
			ask(test.call, "asked for by the call", ThresholdOfCall))
		if got.Growth != test.want || got.Source != test.source || got.Sentence != "What matters here: "+test.sentence {
			t.Errorf("set %q, call %q: %+v\nwant %s", test.set, test.call, got, test.sentence)
		}
	}
	unlisted := &Observation{Weighed: true, Hours: 12}
	for _, text := range []string{"5%/day", "2GB in 30 days"} {
		if got := unlisted.ChooseThreshold(ask(text, "set for the project", ThresholdOfProject), nil); got.Growth != mattersByDay ||
			!strings.HasSuffix(got.Sentence, ", set for the project, is ignored: the evidence has no value for that)") {
			t.Errorf("%s where nothing tells what is held: %+v", text, got)
		}
	}
	timeless := &Observation{Weighed: true}
	if got := timeless.ChooseThreshold(ask("1MB/day", "set for the project", ThresholdOfProject), nil); got.Growth != mattersByRun {
		t.Errorf("without times: %+v", got)
	}
}

// The limit is what matters in the run, and never less than the evidence would have shown.
func TestLimit(t *testing.T) {
	const mb = 1 << 20
	for power, want := range map[float64]float64{0: 5 * mb, 5*mb - 1: 5 * mb, 5*mb + 1: 5*mb + 1} {
		w := &Observation{Weighed: true, Hours: 12, PowerBytes: power}
		if got := w.FailingBytes(mattersByDay); got != want {
			t.Errorf("power %v: %v, want %v", power, got, want)
		}
	}
	w := &Observation{Weighed: true, Hours: 12}
	if got := w.GrowthPerUnit(5*mb, mattersByDay); got != mattersByDay {
		t.Errorf("%v", got)
	}
}
