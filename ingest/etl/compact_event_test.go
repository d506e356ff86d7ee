package etl

import (
	"math/rand/v2"
	"testing"
)

// The quick reading of a compact event gives what decoding the event gives, or declines.
func TestBriefIsThatOfTheEvent(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	kinds := []Kind{KindHeapAlloc, KindHeapFree, KindStackKeyKernel, KindStackKeyUser}
	headers := []HeaderType{HeaderSystem32, HeaderSystem64, HeaderCompact64, HeaderPerfInfo32,
		HeaderPerfInfo64, HeaderFull64}
	quick := 0
	for range 20_000 {
		f := frame{kind: kinds[rng.IntN(len(kinds))], header: headers[rng.IntN(len(headers))]}
		e := make([]byte, int(shapes[f.header].length)+rng.IntN(48))
		for i := range e {
			e[i] = byte(rng.Uint32())
		}
		if rng.IntN(2) == 0 {
			e[1] = 0 // of the version: no counters
		}
		var event Event
		got, want := compactEvent{a: 1, b: 2, c: 3, flags: 4}, compactEvent{}
		event.fill(f, e)
		whole := event.compact(&want)
		if !got.read(f.kind, f.header, e) {
			continue
		}
		if quick++; !whole || got != want {
			t.Fatalf("header %#x, kind %d, % x: %+v, want %+v, %v", f.header, f.kind, e, got, want, whole)
		}
	}
	if quick < 1000 {
		t.Errorf("%d events were decoded quickly", quick)
	}
}
