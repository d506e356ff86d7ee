package symbols_test

import (
	"fmt"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// sought adds to a report of the shop the results of a search for symbols: modules of every state, most of them with
// the attempts, and frames of every kind.
func sought(r *analysis.Report) {
	const server = "https://symbols.example.com/ms"
	r.Modules = []analysis.Module{
		{Name: "shopd.exe", Path: `C:\Shop\shopd.exe`, Size: 0x2a6000, PDB: "shopd.pdb",
			DebugID: "0B7A52DA0E5C4E61A9A1C3F0A1D2E3F41", Symbols: capture.SymbolsPrivate, Own: true,
			Match: "shopd.pdb of the team's store has the debug id of the evidence", Frames: 412,
			Tried: []capture.Attempt{{Place: "team store", Result: "found"}}},
		{Name: "BatteryMeter.exe", Path: `C:\Shop\BatteryMeter.exe`, Size: 1167360, PDB: "BatteryMeter.pdb",
			Symbols: capture.SymbolsNone, Frames: 31, Unnamed: 31,
			Match:       "the evidence has no debug id, and no file of that name is there",
			UnnamedHeld: analysis.Amount{Count: 5790, Bytes: 2223360},
			Tried: []capture.Attempt{{Place: "team store: BatteryMeter.pdb", Result: "not-found"},
				{Place: "team store: BatteryMeter.exe", Result: "not-found"}}},
		{Name: "plugin.dll", Path: `C:\Shop\plugin.dll`, Size: 0x9000, PDB: "plugin.pdb",
			DebugID: "5E0A4B5C9F1D4E3A8B6C7D8E9FA0B1C21", Symbols: capture.SymbolsNone, Mismatch: true, Frames: 2, Unnamed: 2,
			Match: "a plugin.pdb is there, of another build", UnnamedHeld: analysis.Amount{Count: 209, Bytes: 5016},
			Tried: []capture.Attempt{{Place: "team store: plugin.pdb/8C1D…", Result: "mismatch", Detail: "its GUID differs"},
				{Place: server, Result: "failed", Detail: "HTTP 503, tried 3 times"}}},
		{Name: "codec.dll", Path: `C:\Shop\codec.dll`, Size: 0x41000, PDB: "codec.pdb",
			DebugID: "77777777777777777777777777777777A", Symbols: capture.SymbolsExport, Frames: 9, Unnamed: 1,
			Match: "no PDB was found; names are those that the image exports", UnnamedHeld: analysis.Amount{Count: 3, Bytes: 96}},
		{Name: "ntdll.dll", Path: `C:\Windows\System32\ntdll.dll`, Size: 0x1f0000, PDB: "ntdll.pdb",
			DebugID: "1EB9FACB04B443389A8F4E6E0F6F3A111", Symbols: capture.SymbolsPublic, Frames: 23,
			Match: "the banner of the log names this ntdll", Tried: []capture.Attempt{{Place: server, Result: "found"}}},
		{Name: "legacy.dll", Path: `C:\Shop\legacy.dll`, Symbols: capture.SymbolsText, Frames: 4},
		{Name: "silent.dll", Path: `C:\Shop\silent.dll`, Size: 0x3000, Symbols: capture.SymbolsNone},
	}
	for i := range 18 {
		r.Modules = append(r.Modules,
			analysis.Module{Name: fmt.Sprintf("system%02d.dll", i), Path: fmt.Sprintf(`C:\Windows\System32\system%02d.dll`, i),
				Size: 0x10000, Symbols: capture.SymbolsPublic})
	}
	for i := range r.Sites {
		stack := r.Stack(r.Sites[i].Stack)
		for _, f := range stack {
			switch f.Function {
			case "SearchIndex::Rebuild", "Shop::Orders::Receipts::Receipt::AppendLine":
				f.Type = "std::vector<Shop::Orders::Line>"
			case "Scheduler::Tick", "RtlpAllocateHeapInternal":
				f.Approx = true
			case "Shop::Orders::Order::Commit":
				f.Inline = true
			}
		}
		r.Sites[i].Stack = r.AddStack(stack...)
	}
}
