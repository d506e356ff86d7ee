package worker_test

import (
	"bytes"
	"context"
	"fmt"
	"heapdrift/ingest"
	"heapdrift/internal/analysis"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/symbols"
	"heapdrift/worker/task"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/worker/workertest"
)

// snapshotSeries is twelve raw logs of one process, a minute apart: so many stacks of 8 frames, each with one block
// more in every log.
func snapshotSeries(stacks int) []string {
	var list []string
	for minute := range 12 {
		random := rand.New(rand.NewPCG(1, 2)) // the same stacks in every log
		head, rest, _ := strings.Cut(workertest.TillLog(minute), fmt.Sprintf("%X bytes + ", 100+minute))
		_, tail, _ := strings.Cut(rest, "*- - -")
		var b strings.Builder
		b.WriteString(head)
		at := 0x1B0003F0880
		for stack := range stacks {
			var frames strings.Builder
			for range 8 {
				fmt.Fprintf(&frames, "\t7FF6%08X\n", 0x1000+random.IntN(0x5000))
			}
			for block := range minute + 1 {
				fmt.Fprintf(&b, "40 bytes + 10 at %X by BackTrace%X\n%s\n", at+block*0x60, 0x1B000000A1+stack, frames.String())
			}
			at += 12 * 0x60
		}
		b.WriteString("*- - -" + tail)
		list = append(list, b.String())
	}
	return list
}

// A benchHost has the captures of logs as a worker stores them.
type benchHost struct {
	task.Host
	files []string // paths of artifacts
	made  *analysis.Report
	bytes int
}

func (h *benchHost) Open(_ context.Context, file int) (symbols.Content, error) {
	f, err := os.Open(h.files[file])
	if err != nil {
		return nil, err
	}
	return sandbox.Opened(f)
}

func (h *benchHost) Report(_ context.Context, r *analysis.Report, write func(io.Writer) error) error {
	var out bytes.Buffer
	err := write(&out)
	h.made, h.bytes = r, out.Len()
	return err
}

func (h *benchHost) Progress(int, string) {}

// BenchmarkReport makes the report on twelve logs in this process, and in a child process whose report comes back.
func BenchmarkReport(b *testing.B) {
	for _, stacks := range []int{30, 20_000} {
		t, h := task.Report{}, &benchHost{}
		for i, log := range snapshotSeries(stacks) {
			name := fmt.Sprintf("%d.txt", i)
			r, err := ingest.Read(b.Context(), ingest.Source{Name: name, ReaderAt: strings.NewReader(log), Size: int64(len(log))}, ingest.Options{})
			if err != nil {
				b.Fatal(err)
			}
			var artifact bytes.Buffer
			if err := r.Captures[0].Write(&artifact); err != nil {
				b.Fatal(err)
			}
			path := filepath.Join(b.TempDir(), name)
			if err := os.WriteFile(path, artifact.Bytes(), 0o600); err != nil {
				b.Fatal(err)
			}
			h.files = append(h.files, path)
			t.Captures = append(t.Captures, task.CaptureFile{Evidence: int64(i),
				Files: []task.EvidenceFile{{File: task.File{Name: name, SHA256: name}, Bytes: int64(len(log))}}})
		}
		run := func(name string, report func() error) {
			b.Run(fmt.Sprintf("%s/stacks=%d", name, stacks), func(b *testing.B) {
				for b.Loop() {
					if err := report(); err != nil || len(h.made.Sites) != stacks {
						b.Fatal(err, len(h.made.Sites))
					}
				}
				b.ReportMetric(float64(h.bytes), "B/report")
			})
		}
		run("here", func() error { _, err := t.Do(b.Context(), h); return err })
		run("child", func() error { _, err := task.RunReport(b.Context(), &sandbox.Runner{}, t, h); return err })
	}
}
