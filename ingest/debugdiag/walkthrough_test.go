package debugdiag_test

import (
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/debugdiag/debugdiagtest"
)

func TestWalkthrough(t *testing.T) {
	c := read(t, debugdiagtest.Walkthrough().MIME())
	if len(c.Warnings) > 0 {
		t.Errorf("%+v", c.Warnings)
	}
	if c.Process.Name != "w3wp.exe" || c.Process.PID != 3812 || c.Process.Machine != "WEB01" || c.Process.Bits != 0 ||
		!c.Snapshots[0].TakenAt.Equal(time.Date(2008, 2, 21, 16, 17, 33, 0, time.UTC)) {
		t.Errorf("%+v %+v", c.Process, c.Snapshots)
	}
	claims := c.Memory.Claims
	if len(claims) != 3 || len(c.Sites) != 3 {
		t.Fatalf("%d claims, %d sites", len(claims), len(c.Sites))
	}
	for i, want := range []struct {
		stack   string
		count   int64
		bytes   int64
		margin  int64
		percent int
		samples int
		kind    capture.SiteKind
		heap    int32
	}{
		{"3rdparty!IFMX_IsInTransaction+5671 < 3rdparty!SQLEndTran+e456 < odbc32!SQLFetch+160 < System.Data.Odbc.OdbcDataReader.Read()", 37888, 148 << 20, 0, 98, 2, capture.KindHeap, 0},
		{"mscorsvr!EEVirtualAlloc+119", 140, 875 << 20 / 100, 5243, 21, 0, capture.KindVirtual, capture.NoHeap},
		{"odbc32!SQLAllocHandle+a1", 7, 1024, 0, 3, 0, capture.KindHeap, 0},
	} {
		claim, site := claims[i], c.Sites[i]
		if got := render(c, claim.Stack); got != want.stack || site.Stack != claim.Stack {
			t.Errorf("%s", got)
		}
		if claim.Usage.Count != want.count || claim.Usage.Bytes != want.bytes || claim.UsageMargin != want.margin ||
			claim.Percent != want.percent || len(claim.Samples) != want.samples ||
			site.Usage[0] != claim.Usage || site.Kind != want.kind || site.Heap != want.heap {
			t.Errorf("%+v %+v", claim, site)
		}
	}
	whole := render(c, claims[0].Samples[0].Stack)
	if !strings.HasPrefix(whole, render(c, claims[0].Stack)) ||
		!strings.HasSuffix(whole, "ntdll!ZwContinue+c < kernel32!BaseThreadStart+34") {
		t.Error(whole)
	}
	if note := claims[0].Samples[1].Note; note != "1 day(s) 02:00:03 since tracking started; the samples have 4 frames in common" {
		t.Error(note)
	}
	if !hasNote(c, capture.TopicLeakTrack, "LeakTrack 1.2.0.52") || !hasNote(c, capture.TopicLeakTrack, "95400 seconds") ||
		!hasNote(c, capture.TopicWarning, "3rdparty.dll is responsible for 148 MBytes") ||
		!hasNote(c, capture.TopicMethod, "2 of 3 functions") || !hasNote(c, capture.TopicProcess, "2.90.0.1") {
		t.Errorf("%+v", c.Memory.Notes)
	}
	if m := c.Modules[1]; m.FileName() != "mscorsvr" || m.Base != 0x791b0000 || m.Size != 2528<<10 {
		t.Errorf("%+v", c.Modules)
	}
	if m := c.Modules[0]; m.Path != `c:\informix\bin\3rdparty.dll` || m.Base != 0 || m.Size != 0 { // 1.21 MBytes may be one of two numbers of pages
		t.Errorf("%+v", m)
	}
}
