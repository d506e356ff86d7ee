package worker_test

import (
	"strings"
	"testing"
	"time"

	"heapdrift/internal/sandbox"
	"heapdrift/internal/store/storetest"
	"heapdrift/worker/workertest"
)

// Readers of a worker run in processes of their own: a reader that takes more processor time than allowed fails only
// its own evidence, with the reason.
func TestReadersApart(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	if !sandbox.Supported {
		t.Skip("this system has no readers in processes of their own")
	}
	p := &pipeline{t, workertest.StartInChildProcess(t, &sandbox.Runner{TaskTime: time.Nanosecond, TimePerMegabyte: time.Nanosecond})}
	long := strings.Replace(log(1, 50), "\n\n", "\n\n"+
		strings.Repeat("58 bytes + 10 at 5E1A88 by BackTraceA1\n\t401000\n\t402000\n\n", 1_000_000), 1)
	run := p.settled(p.upload("a.txt", long))
	list, err := storetest.Now(t, p.Store).ListEvidence(t.Context(), run.ID)
	if err != nil || len(list) != 1 || list[0].State != "failed" || list[0].ErrorCode != sandbox.CodeExpensive {
		t.Errorf("%+v, %v: a reader that may take no time", list, err)
	}
}
