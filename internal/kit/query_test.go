package kit

import (
	"testing"
	"time"
)

// The page of kits is asked for what an order says, and for nothing that it leaves open.
func TestQueryOfAnOrder(t *testing.T) {
	for _, test := range []struct {
		order Order
		want  string
	}{
		{Order{Evidence: "heap"}, "evidence=heap"},
		{Order{Evidence: "heap", Snapshots: 1, Every: 1}, "every=1ns&evidence=heap&snapshots=1"},
		{Order{Evidence: "etl", Image: "a.exe", Scenario: "s", Build: "7", Snapshots: 12, Every: 5 * time.Minute, PerWork: true},
			"build=7&every=5m0s&evidence=etl&image=a.exe&per-work=1&scenario=s&snapshots=12"},
	} {
		if got := test.order.Query().Encode(); got != test.want {
			t.Errorf("%+v: %s, want %s", test.order, got, test.want)
		}
	}
}

// An interval is whole seconds up to ten minutes, and whole minutes beyond.
func TestWholeUnits(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		0: 0, 1: time.Second, time.Second: time.Second, time.Second + 1: 2 * time.Second,
		10 * time.Minute: 10 * time.Minute, 10*time.Minute - 1: 10 * time.Minute, 10*time.Minute + 1: 11 * time.Minute, 11 * time.Minute: 11 * time.Minute,
	} {
		if got := wholeUnits(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}
