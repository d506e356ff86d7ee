package etltest

import (
	"bytes"
	"encoding/hex"
	"testing"
)

// This package writes events byte for byte as they are in real traces and in the ground-truth corpus, whose writer is
// another one.
func TestEventsOfOthers(t *testing.T) {
	f := Format{}.filled()
	utf16 := func(s string) string { p := payload{}; p.wide(s); return hex.EncodeToString(p.b) }
	system := Process{PID: 4, Session: 0xFFFFFFFF, Bits: 64, ExitStatus: 0x103, SID: SID(18),
		Key: 0xFFFFE00000000080, Name: "System"}
	kernel := Image{Base: 0xFFFFF80312000000, Size: 0x1046000, Stamp: 0x1C9DBD29, Checksum: 0xA6BD12, PDB: "ntkrnlmp.pdb",
		Age: 1, GUID: NewGUID(0x81BC5C37, 0x7C52, 0x6450, 0x5F9958F209C52701), Path: `\ntkrnlmp.exe`}
	for _, c := range []struct {
		name     string
		event    Event
		pid, tid uint32
		raw      int64
		want     string
	}{
		{"Alloc 64", HeapEvent(64, HeapAlloc, []uint64{0x2169B090000, 0x28, 0x2169B090880}, 1), 5128, 5132, 0x8B64775622F,
			"020002c03c0021100c140000081400002f627547b6080000" + "0000000000000000" + "0000099b16020000" + "2800000000000000" +
				"8008099b16020000" + "01000000"},
		{"Create 3", Event{Envelope: SystemHeader, Bits: 64, Group: groupHeap, Op: HeapCreate, Version: 3,
			Payload: HeapCreateEvent(64, 3, 0x2169B090000, 2).Payload}, 5128, 0, 0x8B6476F3901,
			"030002c044002010000000000814000001396f47b6080000" + "0000000000000000" + "0000099b16020000" + "02000000" +
				"0000100000000000" + "0010000000000000" + "0010000000000000"},
		{"Process DCStart 4", f.ProcessEvent(opDCStart, &system), 0, 0, 0x8B6476DB261, "040011c05d00030361b26d47b6080000" +
			"8000000000e0ffff" + "04000000" + "00000000" + "ffffffff" + "03010000" + "00d01a0000000000" + "00000000" +
			"8046465f81b4ffff" + "0000000000000000" + "010100000000000512000000" + "53797374656d00" + "0000" + "0000" + "0000"},
		{"ImageID", f.identities(0, &kernel)[0], 0, 0xFFFFFFFF, 0x8B6476DB264,
			"620014c000000200ffffffff0000000064b26d47b6080000" +
				"d775e6b35425184f830b2762732560de" + "0000000000000000" + "0000001203f8ffff" + "0060040100000000" + "00000000" +
				"29bd9d1c" + utf16("ntkrnlmp.exe")},
		{"ImageID RSDS", f.identities(0, &kernel)[1], 0, 0xFFFFFFFF, 0x8B6476DB264,
			"5d0014c024000200ffffffff0000000064b26d47b6080000" +
				"d775e6b35425184f830b2762732560de" + "0000000000000000" + "0000001203f8ffff" + "00000000" +
				"375cbc81527c50645f9958f209c52701" + "01000000" + hex.EncodeToString([]byte("ntkrnlmp.pdb\x00"))},
		{"VolumeMapping", f.system([]Volume{{`\Device\HarddiskVolume3`, "C:"}})[2], 0, 0xFFFFFFFF, 0x8B6476DB267,
			"660014c023000000ffffffff0000000067b26d47b6080000" +
				"91ee799bfdb5c041a2434248e266e9d0" + "0000000000000000" + utf16(`\Device\HarddiskVolume3`) + utf16("C:")},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := appendEvent(nil, &c.event, 64, c.pid, c.tid, c.raw)
			want, err := hex.DecodeString(c.want)
			if err != nil {
				t.Fatal(err)
			}
			for len(want)%8 != 0 {
				want = append(want, 0)
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("got\n%x\nwant\n%x", got, want)
			}
		})
	}
}
