package worker_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"heapdrift/internal/leaks"
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

// BenchmarkRun takes twelve logs from the upload to the report, and makes the report once more.
func BenchmarkRun(b *testing.B) {
	for _, stacks := range []int{30, 4_000} {
		p, logs := workertest.Start(b), snapshotSeries(stacks)
		n, last := 0, int64(0)
		b.Run(fmt.Sprintf("first/stacks=%d", stacks), func(b *testing.B) {
			for b.Loop() {
				n++
				for i, log := range logs {
					e, err := p.Intake.Accept(b.Context(), leaks.UploadTarget{Project: "p", Build: fmt.Sprint(n)},
						fmt.Sprintf("%d.txt", i), strings.NewReader(log))
					if err != nil {
						b.Fatal(err)
					}
					last = e.RunID
				}
				if run := p.AwaitSettled(b, last); run.SiteCount != int64(stacks) {
					b.Fatalf("%+v", run)
				}
			}
		})
		b.Run(fmt.Sprintf("again/stacks=%d", stacks), func(b *testing.B) {
			for b.Loop() {
				if err := p.Store.UpdateProcess(b.Context(), last, ""); err != nil {
					b.Fatal(err)
				}
				p.AwaitSettled(b, last)
			}
		})
	}
}
