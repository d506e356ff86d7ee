package memory

import (
	"bufio"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
)

// Memory allocated after the request comes in large pages, and the request itself takes no memory.
func TestLargePages(t *testing.T) {
	b := NewBudget(1 << 30)
	before := held()
	b.askForLargePages(256 << 20)
	if after := held(); after > before+32<<20 {
		t.Errorf("asking holds %d bytes, %d before", after, before)
	}
	modes, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil || strings.Contains(string(modes), "[never]") {
		t.Skipf("this machine has no large pages: %s%v", modes, err)
	}
	room := make([]byte, 64<<20)
	for at := 0; at < len(room); at += 4096 {
		room[at] = 1
	}
	if large := largeBytes(t); large < 32<<20 {
		t.Errorf("of %d bytes %d are in large pages", len(room), large)
	}
	runtime.KeepAlive(room)
}

// taken is the address space that the runtime has taken from the system, in bytes.
func taken() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// held is what the runtime has from the system and has not given back, in bytes.
func held() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// largeBytes is how much of this process's memory is in large pages.
func largeBytes(t *testing.T) int64 {
	file, err := os.Open("/proc/self/smaps_rollup")
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "AnonHugePages:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Skip("the system does not say how much is in large pages")
	return 0
}

// Requests without a budget, beyond it, or for less than nothing do no harm.
func TestLargePagesWithinBudget(t *testing.T) {
	var none *Budget
	none.LargePages(1 << 40)
	b := NewBudget(16 << 20)
	before := taken()
	b.askForLargePages(1 << 40)
	b.askForLargePages(-1)
	if after := taken(); after > before+64<<20 {
		t.Errorf("the runtime took %d bytes from the system, %d before", after, before)
	}
}
