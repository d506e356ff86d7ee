package analysis

import "testing"

func TestParseGrowth(t *testing.T) {
	for text, want := range map[string]Growth{
		"10MB/day": {10 << 20, "day"}, "1.5 kb / hour": {1536, "hour"}, "0/run": {0, "run"}, "7B/document": {7, "document"},
		"2GB/day": {2 << 30, "day"}, "12/run": {12, "run"},
	} {
		if got, err := ParseGrowth(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "10MB", "10MB/", "/day", "MB/day", "-1/day", "Inf/day", "NaN/day", "10TB/day", "1e400/day", "1/a\x00b"} {
		if got, err := ParseGrowth(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// What is set decides where the evidence tells its unit; a call may only tighten it.
func TestMatters(t *testing.T) {
	const defaults = "10.0 MB per day (the default"
	ask := func(text, by string, source MattersSource) *Ask {
		if text == "" {
			return nil
		}
		g, err := ParseGrowth(text)
		if err != nil {
			t.Fatal(err)
		}
		return &Ask{Growth: g, Source: source, By: by}
	}
	watch := &Watch{Weighed: true, Hours: 12, Unit: "document", Work: 1024}
	for _, test := range []struct {
		set, call string
		want      Growth
		source    MattersSource
		sentence  string
	}{
		{"", "", mattersByDay, MattersDefault, defaults + ")"},
		{"1MB/day", "", Growth{1 << 20, "day"}, MattersProject, "1.00 MB per day (set for the project)"},
		{"20MB/day", "", Growth{20 << 20, "day"}, MattersProject, "20.0 MB per day (set for the project)"},
		{"1KB/page", "", mattersByDay, MattersDefault,
			defaults + "; 1.00 KB per page is set for the project, and the evidence does not count by page)"},
		{"", "1MB/day", Growth{1 << 20, "day"}, MattersCall, "1.00 MB per day (asked for by the call, less than " + defaults[:len("10.0 MB per day")] + ", the default)"},
		{"", "11MB/day", mattersByDay, MattersDefault,
			defaults + "; 11.0 MB per day is asked for by the call, and a call may only tighten what matters)"},
		{"", "1/page", mattersByDay, MattersDefault,
			defaults + "; 1 B per page is asked for by the call, and the evidence does not count by page)"},
		// 24 MB a day are 12 MB in the run, of 1024 documents.
		{"24MB/day", "1023KB/hour", Growth{1023 << 10, "hour"}, MattersCall,
			"1.00 MB per hour (asked for by the call, less than 24.0 MB per day, set for the project)"},
		{"24MB/day", "1MB/hour", Growth{24 << 20, "day"}, MattersProject, "24.0 MB per day (set for the project)"},
		{"24MB/day", "1025KB/hour", Growth{24 << 20, "day"}, MattersProject,
			"24.0 MB per day (set for the project; 1.00 MB per hour is asked for by the call, and a call may only tighten what matters)"},
		{"24MB/day", "12287B/document", Growth{12287, "document"}, MattersCall,
			"12.0 KB per document (asked for by the call, less than 24.0 MB per day, set for the project)"},
		{"12KB/document", "12MB/run", Growth{12 << 10, "document"}, MattersProject, "12.0 KB per document (set for the project)"},
		{"1KB/page", "9MB/day", Growth{9 << 20, "day"}, MattersCall,
			"9.00 MB per day (asked for by the call, less than 10.0 MB per day, the default; 1.00 KB per page is set for the project, and the evidence does not count by page)"},
	} {
		got := watch.Matters(ask(test.set, "set for the project", MattersProject),
			ask(test.call, "asked for by the call", MattersCall))
		if got.Growth != test.want || got.Source != test.source || got.Sentence != "What matters here: "+test.sentence {
			t.Errorf("set %q, call %q: %+v\nwant %s", test.set, test.call, got, test.sentence)
		}
	}
	timeless := &Watch{Weighed: true}
	if got := timeless.Matters(ask("1MB/day", "set for the project", MattersProject), nil); got.Growth != mattersByRun {
		t.Errorf("without times: %+v", got)
	}
}

// The limit is what matters in the run, and never less than the evidence would have shown.
func TestLimit(t *testing.T) {
	const mb = 1 << 20
	for power, want := range map[float64]float64{0: 5 * mb, 5*mb - 1: 5 * mb, 5*mb + 1: 5*mb + 1} {
		w := &Watch{Weighed: true, Hours: 12, Power: power}
		if got := w.Limit(mattersByDay); got != want {
			t.Errorf("power %v: %v, want %v", power, got, want)
		}
	}
	w := &Watch{Weighed: true, Hours: 12}
	if got := w.Growth(5*mb, mattersByDay); got != mattersByDay {
		t.Errorf("%v", got)
	}
}

// The text of a growth is read as the same growth.
func TestGrowthText(t *testing.T) {
	for _, text := range []string{"10MB/day", "1.5KB/hour", "0/run", "0.1B/a unit"} {
		g, err := ParseGrowth(text)
		again, wrong := ParseGrowth(g.Text())
		if err != nil || wrong != nil || g != again {
			t.Errorf("%s: %v, %q, %v %v", text, err, g.Text(), again, wrong)
		}
	}
}
