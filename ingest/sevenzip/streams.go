package sevenzip

import "slices"

// Limits of what a 7z header may claim.
const (
	maxCoders     = 32      // of a folder, and their streams; as 7-Zip itself
	maxProperties = 64      // bytes of a coder's
	maxSize       = 1 << 62 // bytes that come out of a coder
)

// streams are the packed streams of an archive and what comes out of them.
type streams struct {
	folders []folder
	files   []stream // the files of all folders, in the order of their content
}

// A stream is the place of a file.
type stream struct {
	folder int
	offset uint64 // in what comes out of the folder
	size   uint64
	sum    checksum
	packed bool // the file has a place in a folder
}

// A folder is a number of coders that are unpacked together, from packed streams into one.
type folder struct {
	coders []coder
	pairs  []pair
	inputs []uint64 // the input of a coder that each packed stream feeds
	packed []packed
	sizes  []uint64 // bytes that come out of each coder
	main   int      // the coder whose output is the folder's
	sum    checksum
}

// A coder unpacks one or more inputs into one output.
type coder struct {
	method     string
	properties []byte
	first      uint64 // number of its first input in the folder
	inputs     uint64
}

// A pair says that an input of a coder is the output of another.
type pair struct{ input, output uint64 }

// packed is where a packed stream lies, from the end of the signature header.
type packed struct{ offset, size uint64 }

// streams reads a StreamsInfo.
func (h *header) streams() (s streams) {
	var at uint64 // of the packed streams
	var sizes []uint64
	id := h.id()
	if id == idPackInfo {
		at = h.number()
		n := h.count(1, h.maxEntries)
		id = h.id()
		if id == idSize {
			sizes = h.numbers(n)
			id = h.id()
		}
		h.checksums(id, n)
		id = h.id()
	}
	if id == idUnpackInfo {
		s.folders = h.folders()
		id = h.id()
	}
	s.place(h, at, sizes)
	if id == idSubStreams {
		h.subStreams(&s)
		id = h.id()
	} else {
		for i := range s.folders {
			f := &s.folders[i]
			s.files = append(s.files, stream{i, 0, f.size(), f.sum, true})
		}
	}
	if id != idEnd {
		h.fail(errHeaderClaims)
	}
	return s
}

// place gives each folder its packed streams, which lie one behind the other.
func (s *streams) place(h *header, at uint64, sizes []uint64) {
	for i := range s.folders {
		f := &s.folders[i]
		if len(f.inputs) > len(sizes) {
			h.fail(errHeaderClaims)
			return
		}
		for _, size := range sizes[:len(f.inputs)] {
			f.packed = append(f.packed, packed{at, size})
			if at+size < at {
				h.fail(errHeaderClaims)
				return
			}
			at += size
		}
		sizes = sizes[len(f.inputs):]
	}
}

// size is how many bytes come out of a folder.
func (f *folder) size() uint64 {
	if f.main >= len(f.sizes) { // the header is refused
		return 0
	}
	return f.sizes[f.main]
}

// folders reads an UnpackInfo.
func (h *header) folders() []folder {
	h.want(idFolder)
	n := h.count(1, h.maxEntries)
	h.want(0) // external
	var list []folder
	for range n {
		f := h.folder()
		if h.err != nil {
			return nil
		}
		list = append(list, f)
	}
	h.want(idUnpackSize)
	for i := range list {
		list[i].sizes = h.numbers(uint64(len(list[i].coders)))
		if slices.ContainsFunc(list[i].sizes, func(size uint64) bool { return size > maxSize }) {
			h.fail(errHeaderClaims)
		}
	}
	for i, sum := range h.checksums(h.id(), n) {
		if h.err == nil {
			list[i].sum = sum
		}
	}
	return list
}

// folder reads a Folder.
func (h *header) folder() (f folder) {
	var inputs, dictionaries uint64
	for range h.count(1, maxCoders) {
		c := h.coder(inputs)
		if h.err != nil {
			return f
		}
		memory, err := memoryOf(c.method, c.properties)
		if err != nil {
			h.fail(err)
			return f
		}
		inputs, dictionaries = inputs+c.inputs, dictionaries+memory
		f.coders = append(f.coders, c)
	}
	if h.err == nil && dictionaries > maxDictionary {
		h.fail(tooLarge(dictionaries))
	}
	outputs := uint64(len(f.coders))
	if h.err != nil || inputs > maxCoders {
		h.fail(errHeaderClaims)
		return f
	}
	fed := make([]bool, inputs)       // inputs that come from somewhere
	bound := make([]bool, outputs)    // outputs that go to a coder
	feed := func(input uint64) bool { // false where it is fed twice
		if input >= inputs || fed[input] {
			h.fail(errHeaderClaims)
			return false
		}
		fed[input] = true
		return true
	}
	for range outputs - 1 {
		p := pair{h.number(), h.number()}
		if p.output >= outputs || bound[p.output] || !feed(p.input) {
			h.fail(errHeaderClaims)
			return f
		}
		bound[p.output] = true
		f.pairs = append(f.pairs, p)
	}
	if n := inputs - (outputs - 1); n > 1 {
		f.inputs = h.numbers(n)
		for _, input := range f.inputs {
			feed(input)
		}
	} else {
		for input := range inputs {
			if !fed[input] {
				f.inputs = []uint64{input}
			}
		}
	}
	for i := range bound {
		if !bound[i] {
			f.main = i
		}
	}
	return f
}

// coder reads a coder whose first input has the given number.
func (h *header) coder(first uint64) coder {
	const complexCoder, hasProperties = 0x10, 0x20
	flags := h.id()
	c := coder{method: string(h.skip(uint64(flags & 0x0F))), first: first, inputs: 1}
	if flags&complexCoder != 0 {
		c.inputs = h.count(1, maxCoders)
		h.count(1, 1) // outputs: no method has several
	}
	if flags&hasProperties != 0 {
		c.properties = h.skip(h.count(1, maxProperties))
	}
	if m, known := methods[c.method]; known && h.err == nil && c.inputs != m.inputs {
		h.fail(errHeaderClaims)
	}
	return c
}

// subStreams reads a SubStreamsInfo: the files that each folder holds.
func (h *header) subStreams(s *streams) {
	id := h.id()
	counts := make([]uint64, len(s.folders))
	files := uint64(0)
	for i := range counts {
		counts[i] = 1
		if id == idNumUnpack {
			counts[i] = h.count(0, h.maxEntries)
		}
		files += counts[i]
	}
	if id == idNumUnpack {
		id = h.id()
	}
	if h.err != nil || files > h.maxEntries {
		h.fail(errHeaderClaims)
		return
	}
	hasSizes := id == idSize
	var unknown []int // files without a checksum of their folder
	for i, n := range counts {
		left := s.folders[i].size()
		at := uint64(0)
		for nth := range n {
			size := left // the last has the rest
			if nth < n-1 && hasSizes {
				size = h.number()
			}
			if size > left || nth < n-1 && !hasSizes {
				h.fail(errHeaderClaims)
				return
			}
			file := stream{i, at, size, checksum{}, true}
			if n == 1 && s.folders[i].sum.known {
				file.sum = s.folders[i].sum
			} else {
				unknown = append(unknown, len(s.files))
			}
			s.files = append(s.files, file)
			at, left = at+size, left-size
		}
	}
	if hasSizes {
		id = h.id()
	}
	for i, sum := range h.checksums(id, uint64(len(unknown))) {
		s.files[unknown[i]].sum = sum
	}
}
