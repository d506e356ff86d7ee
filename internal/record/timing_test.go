package record_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	_ "time/tzdata"

	"heapdrift/internal/record"
)

// A time of the day comes once on each day of its zone: on days of 23 and 25 hours, where the clock leaves it out, and
// where it comes twice.
func TestDayTime(t *testing.T) {
	for _, tt := range []struct{ zone, at, from, want string }{
		{"UTC", "00:00", "2026-03-01T12:00:00Z", "2026-03-02T00:00:00Z 2026-03-03T00:00:00Z"},
		{"UTC", "00:00", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z 2026-03-03T00:00:00Z"},
		{"UTC", "00:00", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z 2027-01-02T00:00:00Z"},
		{"Asia/Kolkata", "23:30", "2026-03-01T00:00:00Z", "2026-03-01T18:00:00Z 2026-03-02T18:00:00Z"},
		// Berlin: the clock is put on at 01:00 UTC on 29 March, and back at 01:00 UTC on 25 October.
		{"Europe/Berlin", "00:00", "2026-03-28T12:00:00Z", "2026-03-28T23:00:00Z 2026-03-29T22:00:00Z"},
		{"Europe/Berlin", "00:00", "2026-10-24T12:00:00Z", "2026-10-24T22:00:00Z 2026-10-25T23:00:00Z"},
		{"Europe/Berlin", "02:30", "2026-03-28T12:00:00Z", "2026-03-29T01:30:00Z 2026-03-30T00:30:00Z"},
		{"Europe/Berlin", "02:30", "2026-10-24T12:00:00Z", "2026-10-25T01:30:00Z 2026-10-26T01:30:00Z"},
		// Beirut: midnight of 29 March 2026 does not exist.
		{"Asia/Beirut", "00:00", "2026-03-27T23:00:00Z", "2026-03-28T22:00:00Z 2026-03-29T21:00:00Z"},
	} {
		zone, err := time.LoadLocation(tt.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, err := record.ParseDayTime(tt.at)
		if err != nil || at.String() != tt.at {
			t.Fatal(at, err)
		}
		now, err := time.Parse(time.RFC3339, tt.from)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for range 2 {
			now = at.Next(now.In(zone))
			got = append(got, now.UTC().Format(time.RFC3339))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s at %s after %s: %s, want %s", tt.zone, tt.at, tt.from, got, tt.want)
		}
	}
	for _, text := range []string{"", "24:00", "0", "12:60", "noon"} {
		if at, err := record.ParseDayTime(text); err == nil {
			t.Errorf("%q is %s", text, at)
		}
	}
}

// A recording at midnight takes its snapshots then, whenever it began; by the clock of the test, which begins at one.
func TestRecordAtMidnight(t *testing.T) {
	f := newFake(t)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		at := record.DayTime{Hour: began.Add(90 * time.Minute).Hour(), Minute: began.Add(90 * time.Minute).Minute()}
		rec, err := f.record(t.Context(), record.Options{Target: app(), Snapshots: 2, Every: record.Day, At: &at})
		if err != nil || len(rec.Snapshots) != 2 {
			t.Fatalf("%+v, %v", rec, err)
		}
		for i, want := range []time.Duration{90 * time.Minute, 90*time.Minute + record.Day} {
			if got := rec.Snapshots[i].TakenAt.Sub(began); got != want {
				t.Errorf("snapshot %d after %s, want %s", i, got, want)
			}
		}
	})
	f.untouched(t)
	at := record.DayTime{}
	plan, err := f.recorder(record.Options{Target: app(), Snapshots: 2, Every: record.Day, At: &at}).Plan()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if plan.Print(&text); !strings.Contains(text.String(), "2 snapshots, each day at 00:00") {
		t.Errorf("the plan does not say when:\n%s", text.String())
	}
	synctest.Test(t, func(t *testing.T) { // Ctrl C as it waits
		f := newFake(t)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Hour, cancel)
		at := record.DayTime{Hour: time.Now().Add(90 * time.Minute).Hour()}
		if _, err := f.record(ctx, record.Options{Target: app(), Snapshots: 2, Every: record.Day, At: &at}); !errors.Is(err, record.ErrInterrupted) {
			t.Error(err)
		}
		f.untouched(t)
	})
}

// A time of the day takes no second rule, and no trace.
func TestCheckAt(t *testing.T) {
	at := record.DayTime{}
	good := record.Options{Target: app(), Snapshots: 1, Every: record.Day, At: &at}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*record.Options){
		"per work": func(o *record.Options) { o.PerWork = true },
		"counter":  func(o *record.Options) { o.Counter, o.Step = "f", 1 },
		"every":    func(o *record.Options) { o.Every = time.Hour },
		"trace":    func(o *record.Options) { o.Evidence = "trace" },
	} {
		o := good
		spoil(&o)
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), "--at") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
