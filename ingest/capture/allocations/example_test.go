package allocations_test

import (
	"bytes"
	"context"
	"fmt"

	"heapdrift/ingest/capture/allocations"
)

// A trace is read into a spool, written as a table, and asked about a window.
func Example() {
	ctx := context.Background()
	spool := allocations.NewSpool()
	defer spool.Close()
	err := spool.AddRows([]allocations.Row{
		{AllocTime: 100, FreeTime: 900, Size: 64, Site: 0, End: allocations.EndFree},
		{AllocTime: 200, FreeTime: 300, Size: 4096, Site: 1, End: allocations.EndFree},
		{AllocTime: 250, FreeTime: allocations.Never, Size: 16, Site: 1},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	if err := allocations.Write(ctx, &file, spool, &allocations.Meta{From: 0, To: 1000}); err != nil {
		fmt.Println(err)
		return
	}
	table, err := allocations.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := allocations.Ask(ctx, table,
		allocations.Question{From: 150, To: 500, Sites: 2, Peaks: [][]int32{{0, 0}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for site, classes := range answer.Sites {
		fmt.Printf("site %d: impacting %d, transient %d, before %d\n", site, classes.AIFO.Bytes,
			classes.AIFI.Bytes, classes.AOFO.Bytes)
	}
	fmt.Printf("peak of both: %d bytes at %d\n", answer.Peaks[0][0].Bytes, answer.Peaks[0][0].At)
	// Output:
	// site 0: impacting 0, transient 0, before 64
	// site 1: impacting 16, transient 4096, before 0
	// peak of both: 4176 bytes at 250
}

// What a site allocated in a second, what was left of it, and how long the rest lived.
func ExampleQuestion_Pick() {
	ctx := context.Background()
	spool := allocations.NewSpool()
	defer spool.Close()
	for i := range int64(10) {
		row := allocations.Row{AllocTime: i * 100e6, FreeTime: allocations.Never, Size: 64}
		if i%2 == 0 {
			row.FreeTime, row.End = row.AllocTime+5e6, allocations.EndFree
		}
		if err := spool.AddRows([]allocations.Row{row}); err != nil {
			fmt.Println(err)
			return
		}
	}
	q := allocations.Question{From: 0, To: 1e9, Sites: 1, Survivals: &allocations.SurvivalQuestion{}}
	if _, err := q.Pick(ctx, spool, []allocations.Usage{{Count: 10, Bytes: 640}}); err != nil {
		fmt.Println(err)
		return
	}
	answer, err := allocations.Ask(ctx, spool, q)
	if err != nil {
		fmt.Println(err)
		return
	}
	s := answer.SiteSurvival(&q, 0)
	born, left := s.Total()
	fmt.Printf("%d made, %d left, %d bytes\n", born, left.Count, left.Bytes)
	for bucket, n := range s.Ended {
		if n > 0 {
			fmt.Printf("%d are in bucket %d, as is a lifetime of 5 ms: %v\n", n, bucket, bucket == allocations.Bucket(5e6))
		}
	}
	// Output:
	// 10 made, 5 left, 320 bytes
	// 5 are in bucket 44, as is a lifetime of 5 ms: true
}
