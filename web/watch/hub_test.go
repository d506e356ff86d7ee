package watch

import "testing"

func TestHub(t *testing.T) {
	h := New(nil, nil)
	first, stopFirst := h.Watch(1)
	second, stopSecond := h.Watch(1)
	other, stopOther := h.Watch(2)
	defer stopOther()
	heard := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}

	h.notify(1)
	h.notify(1) // counts as one for a listener that has not received the first yet
	for name, c := range map[string]<-chan struct{}{"first": first, "second": second} {
		if !heard(c) || heard(c) {
			t.Errorf("the %s watcher of run 1 has not heard of its change once", name)
		}
	}
	if heard(other) {
		t.Error("a watcher of run 2 hears of run 1")
	}

	stopFirst()
	h.notify(1)
	if heard(first) || !heard(second) {
		t.Error("who stops hears no more, and the others still do")
	}
	stopSecond()
	if len(h.watchers) != 1 {
		t.Errorf("%d runs are watched, want 1", len(h.watchers))
	}
}

func TestNoHub(t *testing.T) {
	changed, stop := (*Hub)(nil).Watch(1)
	stop()
	if changed != nil {
		t.Error("without a hub nothing is heard")
	}
}
