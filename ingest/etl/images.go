package etl

import (
	"cmp"
	"slices"

	"heapdrift/ingest/sorting"
)

// An Image is an executable file while it was loaded in one process.
type Image struct {
	Base, Size    uint64
	Path          string // with a drive letter where the trace maps volumes
	TimeDateStamp uint32 // of the PE header, 0 where unknown
	CheckSum      uint32
	OriginalName  string // file name in the version resource, "" where unknown
	PDB           string // as the linker wrote it, "" where unknown
	GUID          GUID   // of the PDB
	Age           uint32
	Load, Unload  int64 // ns since the trace's start, or UnknownTime: there before the trace, and to its end
	identified    bool
	stamps        [2]int64 // of the image's first and latest event
}

// An identity is what a merge knows of an image. It belongs to the image events with the same time stamp.
type identity struct {
	stamp int64
	id    ImageID
	rsds  ImageRSDS
	kind  Kind
}

// imageKey finds the identities of an image.
type imageKey struct {
	base    uint64
	process uint32
}

// A imageTable holds the images of all processes.
type imageTable struct {
	open       map[imageKey]int // index into the process's images
	identities map[imageKey][]identity
	volumes    []Volume
	windows    string // directory of Windows
}

// note takes in an image event of process p, which has number i.
func (s *imageTable) note(e *Event, im *ImageEvent, p *Process, i uint32) {
	key := imageKey{im.Base, i}
	at, known := s.open[key]
	if known && e.Kind == KindImageLoad && p.Images[at].Load != e.Time {
		p.Images[at].Unload, known = e.Time, false // its unload was lost
	}
	if !known {
		load := int64(UnknownTime)
		if e.Kind == KindImageLoad {
			load = e.Time
		}
		at = len(p.Images)
		p.Images = append(p.Images, Image{Base: im.Base, Load: load, Unload: UnknownTime, stamps: [2]int64{e.Stamp, e.Stamp}})
		s.open[key] = at
	}
	image := &p.Images[at]
	image.stamps[1] = e.Stamp
	image.Size = max(image.Size, im.Size)
	image.TimeDateStamp = cmp.Or(im.TimeDateStamp, image.TimeDateStamp)
	image.CheckSum = cmp.Or(im.CheckSum, image.CheckSum)
	image.Path = cmp.Or(im.Path, image.Path)
	if e.Kind == KindImageUnload {
		image.Unload = e.Time
		delete(s.open, key)
	}
}

// identify keeps an identity until the images are complete.
func (s *imageTable) identify(base uint64, process uint32, id identity) {
	key := imageKey{base, process}
	list := s.identities[key]
	for i := range list { // rundowns at start and end say the same
		if list[i].kind == id.kind && list[i].id == id.id && list[i].rsds == id.rsds {
			list[i].stamp = id.stamp
			return
		}
	}
	if len(list) == maxIdentities {
		list = slices.Delete(list, 0, 1)
	}
	s.identities[key] = append(list, id)
}

// maxIdentities is how many different files are remembered for one base of one process. Seldom there are two.
const maxIdentities = 64

// finish gives images their identities and their paths.
func (s *imageTable) finish(all []Process) {
	for i := range all {
		for j := range all[i].Images {
			image := &all[i].Images[j]
			list := s.identities[imageKey{image.Base, uint32(i)}]
			image.take(list, KindImageID)
			image.take(list, KindImageRSDS)
			image.Path = s.path(image.Path)
		}
		sorting.Stable(all[i].Images,
			func(a, b Image) int { return cmp.Or(cmp.Compare(a.Base, b.Base), cmp.Compare(a.Load, b.Load)) })
	}
}

// take takes over the identity of one kind that was logged with the image, or else the nearest before.
func (image *Image) take(list []identity, kind Kind) {
	var best *identity
	score := 0
	for i := range list {
		id := &list[i]
		if id.kind != kind {
			continue
		}
		s := 1
		switch {
		case id.stamp == image.stamps[0], id.stamp == image.stamps[1]:
			s = 3
		case id.stamp > image.stamps[0] && id.stamp < image.stamps[1]:
			s = 2
		}
		if s >= score {
			best, score = id, s
		}
	}
	switch {
	case best == nil:
	case kind == KindImageID:
		image.OriginalName = best.id.OriginalName
		image.TimeDateStamp = cmp.Or(image.TimeDateStamp, best.id.TimeDateStamp)
		image.Size = cmp.Or(image.Size, best.id.Size)
	default:
		image.PDB, image.GUID, image.Age, image.identified = best.rsds.PDB, best.rsds.GUID, best.rsds.Age, true
	}
}

// Identified reports whether the trace says which PDB belongs to the image.
func (image *Image) Identified() bool { return image.identified }

// Kernel returns the indexes of the processes whose images are the kernel's.
func (j *JoinResult) Kernel() []uint32 { return j.kernel }
