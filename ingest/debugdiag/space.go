package debugdiag

import (
	"strings"

	"heapdrift/ingest/capture"
)

// useCaptions are the captions of the graph "Virtual Memory Details", by words in them. They are tried in this order.
var useCaptions = []struct {
	words string
	use   capture.UseName
}{
	{"virtual alloc", capture.UsePrivate},
	{"module", capture.UseImage},
	{"image", capture.UseImage},
	{"thread", capture.UseStack},
	{"page heap", capture.UsePageHeap},
	{"gc", capture.UseManaged},
	{"large object", capture.UseManaged},
	{"loh", capture.UseManaged},
	{"heap", capture.UseHeap},
	{"system", capture.UseSystem},
	{"mapped", capture.UseMapped},
	{"free", capture.UseFree},
}

// use takes a bar of the address space. Uses that are one to the capture are added up.
func (d *draft) use(caption, value string) {
	size, ok := parseSize(value)
	if !ok {
		d.misread(value)
		return
	}
	caption = strings.ToLower(caption)
	for _, u := range useCaptions {
		if strings.Contains(caption, u.words) {
			d.sizes = append(d.sizes, namedSize{caption, size})
			was := d.spaceUses[u.use]
			if sum := (span{was.at + size.at, was.low + size.low, was.high + size.high}); sum.high < maxSize*2 {
				d.spaceUses[u.use] = sum
			}
			return
		}
	}
	d.misread(caption)
}

// space is the address space as the report counts it, or nil.
func (d *draft) space() *capture.Space {
	s := &capture.Space{LargestFree: d.largestFree.at, LargestFreeAt: d.freeAt}
	uses := map[capture.UseName]capture.UseTotal{}
	for name, size := range d.spaceUses {
		uses[name] = capture.UseTotal{Reserved: size.at}
	}
	for _, p := range []struct {
		name capture.UseName
		part *part
	}{{capture.UsePrivate, &d.virtual}, {capture.UseMapped, &d.mapped}, {capture.UseImage, &d.images},
		{capture.UseStack, &d.stacks}, {capture.UseHeap, &d.heaps}} {
		if !p.part.known() {
			continue
		}
		u := uses[p.name]
		u.Regions, u.Committed = p.part.regions, p.part.committed.at
		if p.name == capture.UseHeap {
			u.Regions = 0 // heaps were counted, not their regions
		}
		if u.Reserved == 0 {
			u.Reserved = max(p.part.reserved.at, p.part.committed.at)
		}
		uses[p.name] = u
	}
	if d.free.at > 0 {
		uses[capture.UseFree] = capture.UseTotal{Reserved: d.free.at, Largest: d.largestFree.at}
	}
	for _, name := range capture.UseNames {
		if u, ok := uses[name]; ok {
			u.Name = name
			s.Uses = append(s.Uses, u)
		}
	}
	for _, state := range []struct {
		name string
		size span
	}{{"MEM_COMMIT", d.committed}, {"MEM_RESERVE", d.reserved}, {"MEM_FREE", d.free}} {
		if state.size != (span{}) {
			s.States = append(s.States, capture.Share{Name: state.name, Bytes: state.size.at})
		}
	}
	if len(s.Uses) == 0 && len(s.States) == 0 && s.LargestFree == 0 {
		return nil
	}
	return s
}

// Address spaces, in bytes. That of 64 bits is 128 TiB from Windows 8.1 on.
const (
	space32 = 1 << 32
	space64 = 1 << 47
)

// impossible are the sizes that no process of so many bits can have.
func (d *draft) impossible() []namedSize {
	limit := int64(space64)
	if d.c.Process.Bits == 32 {
		limit = space32
	}
	var found []namedSize
	for _, s := range d.sizes {
		if s.low > limit {
			found = append(found, s)
		}
	}
	return found
}
