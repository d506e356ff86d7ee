package lifetimes

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestAddAll checks that AddAll gives what Add does.
func TestAddAll(t *testing.T) {
	for seed := range uint64(8) {
		events := randomEvents(rand.New(rand.NewPCG(seed, 3)), 3000)
		one, all := &rowCollector{}, &rowCollector{}
		single, batched := New(one), New(all)
		for i := range events {
			if err := single.Add(&events[i]); err != nil {
				t.Fatal(err)
			}
		}
		for rest := events; len(rest) > 0; {
			n := min(len(rest), 1+int(seed)*37)
			if err := batched.AddAll(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := single.Finish(); err != nil {
			t.Fatal(err)
		}
		if err := batched.Finish(); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(one.rows, all.rows) || !reflect.DeepEqual(single.Sites(), batched.Sites()) ||
			!reflect.DeepEqual(single.Heaps(), batched.Heaps()) ||
			!reflect.DeepEqual(single.Processes(), batched.Processes()) || single.Anomalies != batched.Anomalies ||
			single.Events != batched.Events {
			t.Errorf("seed %d: AddAll and Add differ", seed)
		}
		if err := batched.AddAll(events[:1]); err == nil {
			t.Error("no error behind the end")
		}
	}
}
