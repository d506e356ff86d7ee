package debugdiag_test

import (
	"reflect"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/debugdiag/debugdiagtest"
)

const dumpName = "svc.exe__PID__812__Date__12_31_2023__Time_11_59_58PM__7__Second_Chance.dmp"

// everything is a report with all sections. Its sizes are whole units, so that all figures are read back as they are.
func everything(culture debugdiagtest.Culture) *debugdiagtest.Report {
	const mb = 1 << 20
	add := debugdiagtest.Function{
		Name: "svc!Cache::Add<int>+34", Source: `c:\svc\cache.cpp @ 118`, Address: 0x7ff600001034, Type: "Heap allocation(s)",
		Manager: "Heap memory manager", Heap: 0x260000, Count: 12_345, Bytes: 12 * mb, Percent: 97,
		Samples: []debugdiagtest.Sample{{Address: 0x2a3f10, After: 30 * time.Minute, Bytes: 1000,
			Frames: []debugdiagtest.Frame{{Name: "svc!Cache::Add<int>+34"}, {Name: "0x79E8C582"}}}},
	}
	open := debugdiagtest.Function{
		Name: "svc!Open+5", Address: 0x7ff600002005, Type: "Event handle(s)", Manager: "Event handles",
		Count: 1_500, Percent: 40,
		Samples: []debugdiagtest.Sample{{Address: 0x1a4, After: time.Minute,
			Frames: []debugdiagtest.Frame{{Name: "svc!Open+5"}}}},
	}
	return &debugdiagtest.Report{
		Culture: culture, Rule: "MemoryAnalysis",
		Conclusions: []debugdiagtest.Conclusion{
			{Group: debugdiagtest.GroupErrors, Dump: dumpName, Description: "<b>svc.exe</b> is failing",
				Recommendation: "Look at it"},
			{Group: debugdiagtest.GroupNotifications,
				Description: "DebugDiag did not detect any known native heap(unmanaged) problems"},
		},
		Dumps: []debugdiagtest.Dump{{
			Name: dumpName,
			Facts: [][2]string{
				{"Machine Name", "BOX"}, {"Process ID", "812"}, {"Process Image", `D:\svc\svc.exe`},
				{"Command Line", `"D:\svc\svc.exe" -k <all>`}, {"Process Up-Time", "02:00:00"},
			},
			Space: &debugdiagtest.Space{
				LargestFree: 900 * mb, Free: 1000 * mb, Reserved: 200 * mb, Committed: 300 * mb, Total: 1500 * mb,
				LargestFreeAt: 0x12_3456_0000,
				Uses: []debugdiagtest.Use{
					{Name: "Virtual Allocations", Bytes: 100 * mb}, {Name: "Loaded Modules", Bytes: 50 * mb},
					{Name: "Threads", Bytes: 10 * mb}, {Name: "System", Bytes: 2 * mb}, {Name: "Page Heaps", Bytes: 3 * mb},
					{Name: "Native Heaps", Bytes: 80 * mb}, {Name: "GC Heap", Bytes: 20 * mb},
					{Name: "GC Large Object Heap", Bytes: 5 * mb},
				},
				VirtualReserved: 60 * mb, VirtualCommitted: 40 * mb, VirtualBlocks: 1234, Mapped: 7 * mb, MappedBlocks: 9,
			},
			Heaps: []debugdiagtest.Heap{
				{Handle: 0x260000, Kind: "NT Heap", Name: "Default process heap", Description: "made at the start",
					Reserved: 64 * mb, Committed: 40 * mb, Segments: 5, Ranges: 1_024, LargestRange: 2 * mb,
					Sizes: []debugdiagtest.SizeCount{{Bytes: 1_000, Count: 12_345}, {Bytes: 24, Count: 7}}},
				{Handle: 0x8a0000, Kind: "NT Heap", Name: "msvcrt", Reserved: 16 * mb, Committed: 3 * mb, Segments: 1},
			},
			Threads: []debugdiagtest.Thread{{ID: 0, System: 1234, Entry: "svc!wmainCRTStartup", Reserved: mb,
				Committed: 32 << 10}, {ID: 1, System: 5678, Entry: "ntdll!TppWorkerThread", Reserved: mb, Committed: 64 << 10}},
			LeakTrack: "2.3.0.37", Tracked: 36*time.Hour + time.Minute,
			Modules: []debugdiagtest.Module{{Name: "svc", Base: 0x7ff600000000, Functions: []debugdiagtest.Function{add}}},
			Handles: []debugdiagtest.Module{{Name: "svc", Base: 0x7ff600000000, Functions: []debugdiagtest.Function{open}}},
		}},
	}
}

func TestSections(t *testing.T) {
	const mb = 1 << 20
	for name, culture := range map[string]debugdiagtest.Culture{"English": debugdiagtest.English,
		"German": debugdiagtest.German, "French": debugdiagtest.French, "Swiss": debugdiagtest.Swiss} {
		t.Run(name, func(t *testing.T) {
			c := read(t, everything(culture).MIME())
			m := c.Memory
			if len(c.Warnings) > 0 {
				t.Errorf("%+v", c.Warnings)
			}
			uses := []capture.UseTotal{
				{Name: capture.UsePrivate, Regions: 1234, Reserved: 100 * mb, Committed: 40 * mb},
				{Name: capture.UseHeap, Reserved: 80 * mb, Committed: 43 * mb},
				{Name: capture.UsePageHeap, Reserved: 3 * mb},
				{Name: capture.UseManaged, Reserved: 25 * mb},
				{Name: capture.UseStack, Regions: 2, Reserved: 10 * mb, Committed: 96 << 10},
				{Name: capture.UseImage, Reserved: 50 * mb},
				{Name: capture.UseMapped, Regions: 9, Reserved: 7 * mb, Committed: 7 * mb},
				{Name: capture.UseSystem, Reserved: 2 * mb},
				{Name: capture.UseFree, Reserved: 1000 * mb, Largest: 900 * mb},
			}
			if !reflect.DeepEqual(m.Space.Uses, uses) || m.Space.LargestFree != 900*mb ||
				m.Space.LargestFreeAt != 0x12_3456_0000 {
				t.Errorf("%+v", m.Space)
			}
			heaps := []capture.HeapFacts{
				{Handle: 0x260000, Kind: "NT Heap", Name: "Default process heap", Note: "made at the start", Reserved: 64 * mb,
					Committed: 40 * mb, Segments: 5, UncommittedRanges: 1024, LargestUncommitted: 2 * mb},
				{Handle: 0x8a0000, Kind: "NT Heap", Name: "msvcrt", Reserved: 16 * mb, Committed: 3 * mb, Segments: 1},
			}
			if !reflect.DeepEqual(m.Heaps, heaps) {
				t.Errorf("%+v", m.Heaps)
			}
			groups := []capture.BlockGroup{
				{By: capture.BySize, Heap: 0x260000, Size: 1000, Usage: capture.Usage{Count: 12345, Bytes: 12345000}},
				{By: capture.BySize, Heap: 0x260000, Size: 24, Usage: capture.Usage{Count: 7, Bytes: 168}},
				{By: capture.ByManager, Key: "Heap memory manager", Usage: capture.Usage{Count: 12345, Bytes: 12 * mb}},
			}
			if !reflect.DeepEqual(m.Groups, groups) {
				t.Errorf("%+v", m.Groups)
			}
			threads := []capture.Thread{{ID: 1234, Reserved: mb, Committed: 32 << 10, Start: "svc!wmainCRTStartup"},
				{ID: 5678, Reserved: mb, Committed: 64 << 10, Start: "ntdll!TppWorkerThread"}}
			if !reflect.DeepEqual(m.Threads, threads) ||
				!reflect.DeepEqual(m.Handles, []capture.HandleType{{Type: "Event", Count: 1500}}) {
				t.Errorf("%+v %+v", m.Threads, m.Handles)
			}
			checkClaims(t, c)
			notes := map[string]string{
				"svc.exe is failing": capture.TopicError, "did not detect any known native heap": capture.TopicInfo,
				`-k <all>`: capture.TopicProcess, "129660 seconds": capture.TopicLeakTrack,
				"12,345 allocations of 12.0 MB (± 5.12 KB) and 1,500 handles": capture.TopicLeakTrack,
			}
			for words, topic := range notes {
				if !hasNote(c, topic, words) {
					t.Errorf("%q is not in %+v", words, m.Notes)
				}
			}
			if c.Process != (capture.Process{Name: "svc.exe", PID: 812, Bits: 64, Machine: "BOX"}) ||
				!c.Snapshots[0].TakenAt.Equal(time.Date(2023, 12, 31, 23, 59, 58, 0, time.UTC)) {
				t.Errorf("%+v %+v", c.Process, c.Snapshots)
			}
		})
	}
}

func checkClaims(t *testing.T, c *capture.Capture) {
	t.Helper()
	claims := c.Memory.Claims
	if len(claims) != 2 || len(c.Sites) != 1 || len(c.Modules) != 1 {
		t.Fatalf("%+v %+v %+v", claims, c.Sites, c.Modules)
	}
	if claims[0].Detached || claims[0].Usage != (capture.Usage{Count: 12345, Bytes: 12 << 20}) ||
		claims[0].Percent != 97 ||
		render(c, claims[0].Stack) != `svc!Cache::Add<int>+34 (c:\svc\cache.cpp, 118) < 0x79e8c582` {
		t.Errorf("%+v %s", claims[0], render(c, claims[0].Stack))
	}
	if !claims[1].Detached || claims[1].Usage != (capture.Usage{Count: 1500}) || claims[1].Percent != 40 ||
		claims[1].Type != "Event handle(s)" || claims[1].Samples[0].Address != 0x1a4 {
		t.Errorf("%+v", claims[1])
	}
}
