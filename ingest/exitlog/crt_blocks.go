package exitlog

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/sorting"
)

// A crtBlock is what identifies a block in a list without stacks. Texts are numbers of crtBlocks.texts: a key without
// pointers is the fastest to find.
type crtBlock struct {
	list  int32 // its place in collector.order
	file  int32 // 0 for unknown
	line  uint32
	kind  int32 // normalBlocks, clientBlocks, or MFC's class
	start int32 // the beginning of its content, where that is text
	size  int64
}

// Kinds of blocks, as numbers of crtBlocks.texts.
const (
	normalBlocks = iota + 1
	clientBlocks
)

// crtBlocks counts the blocks of all lists of a log: their identity rests on which there are.
type crtBlocks struct {
	at       map[crtBlock]int32 // places in blocks
	blocks   []crtBlock
	counts   []int64
	texts    []string // texts[0] is ""
	numbers  map[string]int32
	files    map[string]int32 // by their bytes
	lastFile string           // the one before, by its bytes
	last     int32
}

func newCRTBlocks() crtBlocks {
	c := crtBlocks{at: map[crtBlock]int32{}, numbers: map[string]int32{}, files: map[string]int32{}}
	for _, text := range []string{"", "normal", "client"} {
		c.text(text)
	}
	return c
}

// text is the number of a text; 0 where there are too many.
func (c *crtBlocks) text(text string) int32 {
	n, ok := c.numbers[text]
	if !ok && len(c.texts) < mostSites {
		n = int32(len(c.texts))
		c.numbers[text] = n
		c.texts = append(c.texts, text)
	}
	return n
}

// file is the number of the name of a file.
func (c *crtBlocks) file(name []byte) int32 {
	if c.lastFile == string(name) { // blocks of one file follow each other
		return c.last
	}
	n, ok := c.files[string(name)]
	if !ok {
		n = c.text(validText(name, longestFile))
		if len(c.files) < mostKept {
			c.files[string(name)] = n
		}
	}
	c.lastFile, c.last = string(name), n
	return n
}

// add counts a block in and returns its place in blocks; −1 where there are too many that differ.
func (c *crtBlocks) add(b *crtBlock) int32 {
	n, ok := c.at[*b]
	if !ok {
		if len(c.blocks) == mostSites {
			return -1
		}
		n = int32(len(c.blocks))
		c.at[*b] = n
		c.blocks, c.counts = append(c.blocks, *b), append(c.counts, 0)
	}
	c.counts[n]++
	return n
}

// A sourceLine is a line of a file, by the number of its name without the folder in lower case.
type sourceLine struct {
	file int32
	line uint32
}

// crtNames are the names that tell the lines of all blocks apart over builds.
type crtNames struct {
	*crtBlocks
	bases []int32              // by text: of a file, its name without the folder in lower case
	sizes map[sourceLine]int64 // of the blocks of each line; severalSizes where they differ
	order map[sourceLine]int   // of the line among those of its file and size, from 1
}

const severalSizes = -1

func (c *crtBlocks) names() *crtNames {
	n := &crtNames{crtBlocks: c, bases: make([]int32, len(c.texts)), sizes: map[sourceLine]int64{},
		order: map[sourceLine]int{}}
	for i := range c.blocks {
		b := &c.blocks[i]
		if b.file == 0 {
			continue
		}
		if n.bases[b.file] == 0 {
			n.bases[b.file] = c.text(fileName(c.texts[b.file]))
		}
		at := n.lineOf(b)
		if size, ok := n.sizes[at]; ok && size != b.size {
			n.sizes[at] = severalSizes
		} else {
			n.sizes[at] = b.size
		}
	}
	lines := make([]sourceLine, 0, len(n.sizes))
	for at := range n.sizes {
		lines = append(lines, at)
	}
	sorting.Unstable(lines, func(a, b sourceLine) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	type group struct {
		file int32
		size int64
	}
	counts := map[group]int{}
	for _, at := range lines {
		of := group{at.file, n.sizes[at]}
		counts[of]++
		n.order[at] = counts[of]
	}
	return n
}

func (n *crtNames) lineOf(b *crtBlock) sourceLine { return sourceLine{n.bases[b.file], b.line} }

// of is the frame that stands for blocks.
func (n *crtNames) of(b *crtBlock) capture.FrameText {
	if b.file == 0 {
		return capture.FrameText{Function: nameless(n.texts[b.kind], b.size, n.texts[b.start])}
	}
	at := n.lineOf(b)
	return capture.FrameText{File: n.texts[b.file], Line: b.line,
		Function: ofFile(n.texts[at.file], n.sizes[at], n.order[at])}
}

// addCRT gives the blocks of all lists their identities, and counts them in.
func (o *collector) addCRT(ctx context.Context) {
	names := o.crt.names()
	o.countOnce()
	early, same := o.beforeTests(), o.sameBlocks(ctx)
	for _, n := range o.sortedBlocks() {
		b, count := &o.crt.blocks[n], o.crt.counts[n]
		if count == 0 { // all of them are in a list before
			continue
		}
		l := o.order[b.list]
		if b.file == 0 {
			l.warn(capture.Unsupported, 0, count, "Only kind, size and content distinguish blocks without file and line. "+
				"Define _CRTDBG_MAP_ALLOC, use DEBUG_NEW in each file, or give a UMDH log of the program.")
		}
		site := o.add(l, []frame{{FrameText: names.of(b)}}, capture.ReachUnsearched, count, times(count, b.size))
		l.addSame(site, same[n])
		if site >= 0 {
			before := &l.Lines[site].BeforeTests
			*before = before.Add(capture.Usage{Count: early[n], Bytes: times(early[n], b.size)})
		}
	}
}

// sortedBlocks are the places of blocks in an order that does not depend on that of the log.
func (o *collector) sortedBlocks() []int32 {
	c := &o.crt
	order := make([]int32, len(c.blocks))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(x, y int32) int {
		a, b := &c.blocks[x], &c.blocks[y]
		if a.list != b.list {
			return cmp.Compare(a.list, b.list)
		}
		if a.file != b.file {
			return strings.Compare(c.texts[a.file], c.texts[b.file])
		}
		return cmp.Or(cmp.Compare(a.line, b.line), strings.Compare(c.texts[a.kind], c.texts[b.kind]),
			cmp.Compare(a.size, b.size), strings.Compare(c.texts[a.start], c.texts[b.start]))
	})
	return order
}

// ofFile names the blocks of a line: by file and size, and by their order where several lines have the same.
func ofFile(file string, size int64, order int) string {
	name := file + ":blocks"
	if size != severalSizes {
		name = file + ":" + strconv.FormatInt(size, 10) + "-byte-block"
	}
	if order > 1 {
		name += "#" + strconv.Itoa(order)
	}
	return oneWord(name)
}

// nameless names blocks without a file.
func nameless(kind string, size int64, start string) string {
	name := kind + ":" + strconv.FormatInt(size, 10) + "-byte-block"
	if start != "" {
		name += ":" + start
	}
	return oneWord(name)
}

// oneWord makes a text one that names of functions may be: analysis takes what is before a blank for a type, and what
// is in brackets for arguments.
func oneWord(text string) string {
	const apart = " !()<>[]{}`'\""
	if !strings.ContainsAny(text, apart) {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '!':
			return '_'
		case strings.ContainsRune(apart, r):
			return '.'
		}
		return r
	}, text)
}
