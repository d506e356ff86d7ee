package run_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/vmmap"
	"heapdrift/web/pages/pagestest"
)

// overTime is evidence of several kinds about one 32-bit process: VMMap every hour, a dump at the end with the system's
// own count, and logs of UMDH in between.
func overTime(t testing.TB) (list []*capture.Capture) {
	t.Helper()
	begin := time.Date(2026, 3, 6, 9, 0, 0, 0, time.UTC)
	var b strings.Builder
	for hour := range 6 {
		at := 0x1_0000
		region := func(megabytes, committed, private, use int) {
			fmt.Fprintf(&b, `<Region Address="%d" Size="%d" Commit="%d" PrivateBytes="%d" UseType="%d" Id="1"/>`, at,
				megabytes<<20, committed<<20, private<<20, use)
			at += megabytes << 20
		}
		fmt.Fprintf(&b, `<Snapshot Time="%s" ProcessName="app.exe" PID="4242"><MemoryRegions>`,
			begin.Add(time.Duration(hour)*time.Hour).Format("2006-01-02 15:04:05"))
		region(128, 60+6*hour, 60+6*hour, 0)
		region(400+100*hour, 180+50*hour, 180+50*hour, 4)
		region(64, 8, 8, 1)
		region(90, 90, 6, 2)
		region(40, 40, 0, 3)
		fmt.Fprintf(&b, `<Region Address="%d" Size="%d" UseType="6"/></MemoryRegions></Snapshot>`, at, 0x7FFF_0000-at)
	}
	list, err := vmmap.Read(t.Context(), strings.NewReader(b.String()))
	if err != nil || len(list) != 6 {
		t.Fatalf("%d snapshots, %v", len(list), err)
	}
	for n, c := range pagestest.CapturesOf(pagestest.Shop, 6) {
		c.Process.Name, c.Process.Bits = "app.exe", 32
		c.Snapshots[0].TakenAt = begin.Add(time.Duration(n)*time.Hour + 30*time.Minute)
		list = append(list, c)
	}
	last := fragmented(t)
	last.Snapshots[0].TakenAt = begin.Add(6 * time.Hour)
	last.Memory.Space.PrivateBytes = 1100 << 20
	return append(list, last)
}

func TestMemoryOverTimeOnThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	page := pagestest.Words(s.Page(fmt.Sprintf("/runs/%d", pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, overTime(t)))))
	pagestest.Has(t, page, "Memory over time", "Unexplained", "private bytes", "heap blocks, requested bytes", "13 points",
		"Private bytes by the regions grew by 481 MB over 6 hours: VirtualAlloc +538 MB",
		"Unexplained: 365 MB of 1.07 GB private bytes",
		"The address space is used up in",
		"Taken", "Evidence", "Private bytes", "PEB, TEBs, system", "Heap blocks", "Address space", "6 Mar 2026 09:00",
		"vmmap", "254 MB", "First to last", "▲ +481 MB")
	logs := pagestest.DefaultTarget
	logs.Build = "4900"
	pagestest.Lacks(t, pagestest.Words(s.Page(fmt.Sprintf("/runs/%d",
		pagestest.AddRun(t, s.Store, logs, pagestest.CapturesOf(pagestest.Shop, 3))))), "Memory over time")
	alone := pagestest.DefaultTarget
	alone.Build = "4901"
	pagestest.Lacks(t, pagestest.Words(s.Page(fmt.Sprintf("/runs/%d", pagestest.AddRun(t, s.Store, alone, dumps(t)[:1])))),
		"Memory over time")
}

func TestMemoryOverTimeInBrowser(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	path := fmt.Sprintf("/runs/%d/memory", pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, overTime(t)))
	b.Do(cdp.Navigate(s.URL + path))
	b.OnScreens("course")
}
