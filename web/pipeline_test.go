package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/embedded"
	"heapdrift/internal/queue"
	"heapdrift/worker"
)

// snapshotLog is a log of a process that leaks 64 blocks between two snapshots.
func snapshotLog(number int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// \r\n// UMDH: version 10.0.19041.1: Logtime 2026-01-02 03:%02d - Machine=LAB - PID=4242\r\n// \r\n", number)
	b.WriteString("// Loaded modules: \r\n//     Base Size Module\r\n//           400000   2A6000 C:\\Shop\\shop.exe\r\n//         77650000   180000 C:\\Windows\\SysWOW64\\ntdll.dll\r\n//\r\n// Process modules enumerated.\r\n\r\n" +
		"*- - - - - - - - - - Start of data for heap @ 3F0000 - - - - - - - - - -\r\n\r\n")
	for i := range 64 * number {
		fmt.Fprintf(&b, "00000040 bytes + 00000018 at %08X by BackTrace0000001\r\n\t77650123\r\n\t00401234\r\n\r\n",
			0x3F1000+i*0x60)
	}
	b.WriteString("*- - - - - - - - - - End of data for heap @ 3F0000 - - - - - - - - - -\r\n")
	return b.String()
}

// A CI job uploads, says that the run is complete, waits, and reads the report.
func TestPipeline(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	opt, log := options(t)
	redis, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(redis.Stop)
	work := &worker.Worker{Store: opt.Store, Blobs: opt.Blobs}
	jobs, err := queue.New(opt.Store, work.Handlers(),
		queue.Options{RedisURL: "redis://" + redis.Addr(), FreshBroker: true, Poll: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- jobs.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	opt.PingQueue = func(context.Context) error { return jobs.Ping(t.Context()) }
	address, _, _ := serve(t, opt)

	call := func(method, path, body string) (status int, answer string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	if status, answer := call("GET", "/readyz", ""); status != http.StatusOK {
		t.Fatalf("not ready: %s", answer)
	}
	for i := range 3 {
		if status, answer := call("PUT", fmt.Sprintf("/api/v1/evidence?project=shop&build=1&name=s%d.txt", i),
			snapshotLog(i+1)); status != http.StatusCreated {
			t.Fatalf("%d %s", status, answer)
		}
	}
	if status, answer := call("POST", "/api/v1/runs/1/complete", ""); status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	status, answer := call("GET", "/api/v1/runs/1/verdict?wait=60s", "")
	var verdict struct{ Gate, Status, Sentence string }
	if err := json.Unmarshal([]byte(answer), &verdict); err != nil || status != http.StatusOK ||
		verdict.Gate != "inconclusive" || !strings.Contains(verdict.Sentence, "snapshots") {
		t.Errorf("verdict: %d %s %v\n%s", status, answer, err, log.text())
	}
	for format, want := range map[string]string{"json": `"schema":"heapdrift.report/v2"`, "text": "INCONCLUSIVE",
		"markdown": "**inconclusive**", "csv": "signature,kind", "folded": "heap;"} {
		if status, answer := call("GET", "/api/v1/runs/1/report?format="+format, ""); status != http.StatusOK ||
			!strings.Contains(answer, want) {
			t.Errorf("%s: %d %.300s", format, status, answer)
		}
	}
}
