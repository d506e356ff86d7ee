package etl

import (
	"fmt"
	"testing"
)

func newImages() (*imageTable, *Process) {
	return &imageTable{open: map[imageKey]int{}, identities: map[imageKey][]identity{}}, &Process{}
}

// An image takes the identity that has the stamp of its first or latest event, before one between them, before any
// other; of equals the later one.
func TestIdentityOfAnImage(t *testing.T) {
	for name, test := range map[string]struct {
		stamps []int64 // of identities
		want   int     // which of them
	}{
		"any":                       {[]int64{5}, 0},
		"the later of two others":   {[]int64{5, 6}, 1},
		"between before another":    {[]int64{15, 5}, 0},
		"between before one behind": {[]int64{15, 25}, 0},
		"first before between":      {[]int64{10, 15}, 0},
		"latest before between":     {[]int64{20, 15}, 0},
		"the later of two matching": {[]int64{10, 20}, 1},
		"the later of two between":  {[]int64{11, 19}, 1},
	} {
		s, p := newImages()
		for _, e := range []Event{{Kind: KindImageLoad, Stamp: 10}, {Kind: KindImageDCEnd, Stamp: 20}} {
			s.note(&e, &ImageEvent{Base: 0x1000, Path: "a.dll"}, p, 0)
		}
		for i, stamp := range test.stamps {
			n := uint32(i + 1)
			s.identify(0x1000, 0, identity{stamp: stamp, kind: KindImageID,
				id: ImageID{OriginalName: fmt.Sprint(i), TimeDateStamp: n, Size: uint64(n)}})
			s.identify(0x1000, 0, identity{stamp: stamp, kind: KindImageRSDS,
				rsds: ImageRSDS{PDB: fmt.Sprint(i), Age: n, GUID: GUID{byte(n)}}})
		}
		all := []Process{*p}
		s.finish(all)
		image, n := &all[0].Images[0], uint32(test.want+1)
		if image.OriginalName != fmt.Sprint(test.want) || image.TimeDateStamp != n || image.Size != uint64(n) {
			t.Errorf("%s: %+v, want the id %d", name, image, test.want)
		}
		if image.PDB != fmt.Sprint(test.want) || image.Age != n || image.GUID != (GUID{byte(n)}) || !image.Identified() {
			t.Errorf("%s: %+v, want the PDB %d", name, image, test.want)
		}
	}
}

// An image whose identities are of another process or base has none, and keeps what its own events said.
func TestNoIdentity(t *testing.T) {
	s, p := newImages()
	s.note(&Event{Kind: KindImageDCStart, Stamp: 10}, &ImageEvent{Base: 0x1000, Size: 8, TimeDateStamp: 7}, p, 0)
	s.note(&Event{Kind: KindImageDCStart, Stamp: 11}, &ImageEvent{Base: 0x500, Size: 8}, p, 0)
	s.identify(0x1000, 1, identity{stamp: 10, kind: KindImageRSDS, rsds: ImageRSDS{PDB: "a.pdb"}})
	s.identify(0x2000, 0, identity{stamp: 10, kind: KindImageID, id: ImageID{OriginalName: "a.dll"}})
	s.identify(0x500, 0, identity{stamp: 11, kind: KindImageID, id: ImageID{TimeDateStamp: 5, Size: 9}})
	all := []Process{*p}
	s.finish(all)
	first, second := &all[0].Images[0], &all[0].Images[1] // by base
	if first.Base != 0x500 || first.TimeDateStamp != 5 || first.Size != 8 || first.Identified() {
		t.Errorf("%+v", first)
	}
	if second.Identified() || second.PDB != "" || second.OriginalName != "" || second.TimeDateStamp != 7 {
		t.Errorf("%+v", second)
	}
}

// Identities that say the same are one, with the latest stamp; of too many the oldest is dropped.
func TestIdentitiesKept(t *testing.T) {
	s, _ := newImages()
	for i := range maxIdentities + 1 {
		s.identify(1, 0, identity{stamp: int64(i), kind: KindImageID, id: ImageID{Size: uint64(i)}})
		s.identify(1, 0, identity{stamp: int64(100 + i), kind: KindImageID, id: ImageID{Size: uint64(i)}})
	}
	list := s.identities[imageKey{1, 0}]
	if len(list) != maxIdentities || list[0].id.Size != 1 || list[0].stamp != 101 {
		t.Errorf("%d, first %+v", len(list), list[0])
	}
	s.identify(1, 0, identity{stamp: 1, kind: KindImageRSDS, rsds: ImageRSDS{Age: 1}})
	s.identify(1, 0, identity{stamp: 1, kind: KindImageRSDS, rsds: ImageRSDS{Age: 2}})
	if list = s.identities[imageKey{1, 0}]; len(list) != maxIdentities || list[maxIdentities-1].rsds.Age != 2 ||
		list[maxIdentities-2].rsds.Age != 1 {
		t.Errorf("%d, last %+v", len(list), list[len(list)-2:])
	}
}

// A second load at a base ends the image before it; the same event from two sessions, and rundowns, do not. What later
// events lack stays as the earlier ones said it.
func TestImagesNoted(t *testing.T) {
	s, p := newImages()
	note := func(kind Kind, time int64, im ImageEvent) {
		t.Helper()
		s.note(&Event{Kind: kind, Time: time, Stamp: time}, &im, p, 0)
	}
	note(KindImageDCStart, 1, ImageEvent{Base: 1, Size: 10, Path: "a", TimeDateStamp: 3, CheckSum: 4})
	note(KindImageDCEnd, 2, ImageEvent{Base: 1, Size: 9})
	note(KindImageLoad, 3, ImageEvent{Base: 1, Size: 20, Path: "b"})
	note(KindImageLoad, 3, ImageEvent{Base: 1, Size: 20, Path: "b"})
	note(KindImageUnload, 5, ImageEvent{Base: 1, Size: 20})
	note(KindImageLoad, 7, ImageEvent{Base: 1, Size: 30, Path: "c"})
	note(KindImageLoad, 8, ImageEvent{Base: 2, Size: 40, Path: "d"})
	want := []Image{
		{Base: 1, Size: 10, Path: "a", TimeDateStamp: 3, CheckSum: 4, Load: UnknownTime, Unload: 3, stamps: [2]int64{1, 2}},
		{Base: 1, Size: 20, Path: "b", Load: 3, Unload: 5, stamps: [2]int64{3, 5}},
		{Base: 1, Size: 30, Path: "c", Load: 7, Unload: UnknownTime, stamps: [2]int64{7, 7}},
		{Base: 2, Size: 40, Path: "d", Load: 8, Unload: UnknownTime, stamps: [2]int64{8, 8}},
	}
	if fmt.Sprint(p.Images) != fmt.Sprint(want) {
		t.Errorf("%+v,\nwant %+v", p.Images, want)
	}
}

// Paths of the kernel get the drive of their volume, whole folders only; without a volume that of Windows.
func TestPathsOfImages(t *testing.T) {
	s := &imageTable{volumes: []Volume{{NT: `\Device\HarddiskVolume3\`, DOS: `C:\`}, {NT: `\Device\HarddiskVolume4`, DOS: `D:`}},
		windows: `E:\Windows\`}
	for nt, want := range map[string]string{
		`\Device\HarddiskVolume3\a.dll`:  `C:\a.dll`,
		`\device\harddiskvolume3\a.dll`:  `C:\a.dll`,
		`\Device\HarddiskVolume3`:        `C:`,
		`\Device\HarddiskVolume33\a.dll`: `\Device\HarddiskVolume33\a.dll`,
		`\Device\HarddiskVolume4\a.dll`:  `D:\a.dll`,
		`\SystemRoot\System32\a.dll`:     `E:\Windows\System32\a.dll`,
		`\Windows\System32\a.dll`:        `E:\Windows\System32\a.dll`,
		`\Program Files\a.dll`:           `\Program Files\a.dll`,
		`\SystemRoot`:                    `\SystemRoot`,
	} {
		if got := s.path(nt); got != want {
			t.Errorf("%s is %s, want %s", nt, got, want)
		}
	}
	for _, windows := range []string{"", "E:", `EE\Windows`} {
		if got := (&imageTable{windows: windows}).path(`\Windows\a.dll`); windows != "E:" && got != `\Windows\a.dll` {
			t.Errorf("with Windows in %q: %s", windows, got)
		}
	}
}
