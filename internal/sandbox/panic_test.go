package sandbox

import (
	"strings"
	"testing"
)

// The first line of a panic and the innermost function of this program are found in what a process said last, and are
// safe to show.
func TestPanicOf(t *testing.T) {
	const trace = "\n\ngoroutine 7 [running]:\nruntime.gopanic(0x1)\n\t/go/src/runtime/panic.go:1 +0x1\n" +
		"heapdrift/internal/sandbox.within(0x1)\n\t/src/internal/sandbox/child_linux.go:70 +0x1\n" +
		"heapdrift/internal/analysis.(*draft).judge(0xc000, {0x1, 0x2})\n\t/src/internal/analysis/draft.go:88 +0x1d\n" +
		"heapdrift/worker/task.(*Report).Do(0x1)\n\t/src/worker/task/report.go:70 +0x1\n"
	long := strings.Repeat("é", mostWhy)
	for _, test := range []struct{ name, said, why, where string }{
		{"a panic", "panic: runtime error: index out of range [3] with length 3 [recovered]" + trace,
			"runtime error: index out of range [3] with length 3 [recovered]", "internal/analysis.(*draft).judge (draft.go:88)"},
		{"after other words", "warning: slow\npanic: a\n\tpanic: b" + trace, "a", "internal/analysis.(*draft).judge (draft.go:88)"},
		{"of two goroutines", "panic: a\npanic: b", "a", ""},
		{"of the runtime", "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [select]:\nmain.main()\n\t/a.go:1 +0x1\n",
			"all goroutines are asleep - deadlock!", ""},
		{"control characters", "panic: a\x1b[2J\x00\xff", "a\ufffd[2J\ufffd\ufffd", ""},
		{"as long as may be", "panic: " + long[:mostWhy], long[:mostWhy], ""},
		{"longer", "panic: " + long[:mostWhy] + "é", long[:mostWhy] + "…", ""},
		{"no panic", "exit status 1", "", ""},
		{"cut after a function", "panic: a\nheapdrift/worker/task.x(0x1)", "a", ""},
		{"nothing", "", "", ""},
	} {
		if why, where := panicOf(test.said); why != test.why || where != test.where {
			t.Errorf("%s: %q, %q", test.name, why, where)
		}
	}
}
