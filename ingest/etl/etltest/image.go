package etltest

import "strings"

// Opcodes of images: the load is in the process's group, the others are in group 0x14.
const (
	imageUnload, imageDCStart, imageDCEnd = 2, 3, 4

	imageID, imageIDNone, imageIDRSDS      = 0, 32, 36
	imageIDPortable, imageIDDeterministic  = 38, 40
	imageIDFileVersion                     = 64
	systemBuild, systemPaths, systemVolume = 32, 33, 35
)

// ImageEvent is an event of an image's life in version 0 to 3.
//
//	0    ImageBase P, ImageSize u32, FileName
//	1    ImageBase P, ImageSize P, ProcessId u32, FileName
//	2    …, ProcessId, ImageCheckSum, TimeDateStamp, Reserved0 u32, DefaultBase P, Reserved1–4 u32, FileName
//	3    Reserved0 is SignatureLevel u8, SignatureType u8, u16
func (f Format) ImageEvent(op byte, pid uint32, m *Image) Event {
	f = f.filled()
	v, e := f.ImageVersion, payload{bits: f.Bits}
	e.ptr(m.Base)
	if v == 0 {
		e.u32(uint32(m.Size))
	} else {
		e.ptr(m.Size)
		e.u32(pid)
	}
	if v >= 2 {
		e.u32(m.Checksum, m.Stamp)
		if v == 2 {
			e.u32(0)
		} else {
			e.u8(12, 3)
			e.u16(0)
		}
		e.ptr(m.Base &^ 0xFFFF)
		e.u32(0, 0, 0, 0)
	}
	e.wide(m.Path)
	group := byte(groupImage)
	if op == opcodeImageLoad {
		group = groupProcess
	}
	return Event{Envelope: f.kernelEnvelope(op), Group: group, Op: op, Version: uint16(v), Payload: e.b}
}

// identities are the events that a merge adds beside an image's: what the file says of itself.
func (f *Format) identities(pid uint32, m *Image) []Event {
	name := m.Path[strings.LastIndexByte(m.Path, '\\')+1:]
	event := func(op byte, version uint16, p payload) Event {
		return Event{Envelope: ClassicHeader, Op: op, Version: version, Provider: providerImageID, Payload: p.b}
	}
	id := payload{bits: f.Bits} // ImageBase P, ImageSize P, ProcessId u32, TimeDateStamp u32, OriginalFileName
	id.ptr(m.Base, m.Size)
	id.u32(pid, m.Stamp)
	id.wide(name)
	all := []Event{event(imageID, 2, id)}
	where := payload{bits: f.Bits}
	where.ptr(m.Base)
	where.u32(pid)
	if m.PDB == "" { // None: ImageBase P, ProcessId u32
		all = append(all, event(imageIDNone, 2, where))
	} else { // RSDS: ImageBase P, ProcessId u32, GUID, Age u32, PdbFileName in ASCII
		where.u8(m.GUID[:]...)
		where.u32(m.Age)
		where.ascii(m.PDB)
		all = append(all, event(imageIDRSDS, 2, where))
	}
	version := payload{bits: f.Bits} // ImageSize u32, TimeDateStamp u32, ten texts
	version.u32(uint32(m.Size), m.Stamp)
	for _, s := range []string{name, "Made up", "1.2.3.4", "1.2.3.4", "en-US", "Made Up", "Nobody", "1.2", "", ""} {
		version.wide(s)
	}
	return append(all, event(imageIDFileVersion, 0, version))
}

// system are the events of SysConfigEx that a merge adds: the build, the system's folders, the volumes.
func (f *Format) system(volumes []Volume) []Event {
	event := func(op byte, p payload) Event {
		return Event{Envelope: ClassicHeader, Op: op, Version: 0, Provider: providerSysConf, Payload: p.b}
	}
	build, paths := payload{}, payload{}
	build.u64(0x1D2017A5A143769) // InstallDate
	build.wide("19041.1.amd64fre.vb_release.191206-1406")
	build.wide("Windows 10 Pro")
	paths.wide(`C:\Windows\system32`)
	paths.wide(`C:\Windows`)
	all := []Event{event(systemBuild, build), event(systemPaths, paths)}
	for _, v := range volumes {
		p := payload{}
		p.wide(v.NT)
		p.wide(v.DOS)
		all = append(all, event(systemVolume, p))
	}
	return all
}
