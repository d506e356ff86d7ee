package capture

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// The artifact of a capture:
//
//	magic    "hdcap"      5 bytes
//	version  1            1 byte
//	sections              zstd stream of: tag uvarint, length uvarint, payload; in the order of the tags
//
// A reader skips sections whose tag it does not know, so new kinds of facts are added as sections without a new
// version. Numbers in payloads are varints; a count is a claim and is checked against the bytes that are there.
const (
	artifactMagic   = "hdcap"
	artifactVersion = 1 // of both kinds of artifact
)

const (
	tagHeader = iota + 1
	tagSnapshots
	tagModules
	tagHeaps
	tagTexts
	tagFrames
	tagStacks
	tagSites
	tagBlocks
	tagWarnings
	tagTrace
	tagLives
	tagSurvivals
	tagMemory
	tagUnreachable
	tagFormer
	tagWork // of captures with work only
	tagExit
	tagSampling // of captures of samples only
	tagRan      // of captures that name tests only
	tagLines    // of captures without call stacks only
	tagPrinted  // of lists of leaks at exit only
)

// ErrArtifact is wrapped by the error of reading a damaged or foreign artifact.
var ErrArtifact = errors.New("capture: not a capture artifact of a known version")

// Write writes c as an artifact.
func (c *Capture) Write(w io.Writer) error {
	sections := []section{
		{tagHeader, c.putHeader}, {tagSnapshots, c.putSnapshots}, {tagModules, c.putModules}, {tagHeaps, c.putHeaps},
		{tagTexts, c.putTexts}, {tagFrames, c.putFrames}, {tagStacks, c.putStacks}, {tagSites, c.putSites},
		{tagBlocks, c.putBlocks}, {tagWarnings, c.putWarnings}, {tagTrace, c.putTrace}, {tagLives, c.putLives},
		{tagSurvivals, c.putSurvivals}, {tagMemory, c.putMemory}, {tagUnreachable, c.putUnreachable},
		{tagFormer, c.putFormer}, {tagExit, c.putExit},
	}
	if c.Work != nil {
		sections = append(sections, section{tagWork, c.putWork})
	}
	if c.Sampling != 0 {
		sections = append(sections, section{tagSampling, c.putSampling})
	}
	if len(c.Ran) > 0 {
		sections = append(sections, section{tagRan, c.putRan})
	}
	if c.Lines != nil {
		sections = append(sections, section{tagLines, c.putLines})
	}
	if c.Printed > 0 {
		sections = append(sections, section{tagPrinted, c.putPrinted})
	}
	return writeArtifact(w, artifactMagic, sections)
}

// ErrTooLarge is the error of an artifact that unpacks to more than ReadWithin allows.
var ErrTooLarge = fmt.Errorf("%w: it unpacks to more than is allowed", ErrArtifact)

// Read reads an artifact that Write made. Its error wraps ErrArtifact where the bytes are not one.
func Read(r io.Reader) (*Capture, error) { return ReadWithin(r, math.MaxInt64) }

// ReadWithin reads an artifact from outside, which may unpack to that many bytes at most. Its error is ErrTooLarge
// beyond that, and else as that of Read.
func ReadWithin(r io.Reader, most int64) (*Capture, error) {
	c := &Capture{}
	err := readArtifact(r, most, artifactMagic, map[uint64]func(*decoder){
		tagHeader: c.takeHeader, tagSnapshots: c.takeSnapshots, tagModules: c.takeModules, tagHeaps: c.takeHeaps,
		tagTexts: c.takeTexts, tagFrames: c.takeFrames, tagStacks: c.takeStacks, tagSites: c.takeSites,
		tagBlocks: c.takeBlocks, tagWarnings: c.takeWarnings, tagTrace: c.takeTrace, tagLives: c.takeLives,
		tagSurvivals: c.takeSurvivals, tagMemory: c.takeMemory, tagUnreachable: c.takeUnreachable,
		tagFormer: c.takeFormer, tagWork: c.takeWork, tagExit: c.takeExit, tagSampling: c.takeSampling, tagRan: c.takeRan,
		tagLines:   c.takeLines,
		tagPrinted: c.takePrinted,
	})
	if err != nil {
		return nil, err
	}
	return c, c.check()
}

// check refuses captures whose parts point outside each other, so that users of a Capture need not.
func (c *Capture) check() error {
	s := &c.Stacks
	if err := s.check(len(c.Modules)); err != nil {
		return err
	}
	if (c.Shape == ShapeTrace) != (c.Trace != nil) {
		return fmt.Errorf("%w: a capture of shape %d, trace %t", ErrArtifact, c.Shape, c.Trace != nil)
	}
	if c.Shape == ShapeExit && len(c.Snapshots) != 1 {
		return fmt.Errorf("%w: a list of blocks at exit in %d snapshots", ErrArtifact, len(c.Snapshots))
	}
	if c.Shape == ShapeFacts && (c.Memory == nil || len(c.Sites) > 0 || len(c.Snapshots) != 1) {
		return fmt.Errorf("%w: a capture of facts with %d sites in %d snapshots", ErrArtifact, len(c.Sites), len(c.Snapshots))
	}
	if err := c.Memory.check(s.Count()); err != nil {
		return err
	}
	if c.Lines != nil && len(c.Lines) != len(c.Sites) {
		return fmt.Errorf("%w: %d lines for %d sites", ErrArtifact, len(c.Lines), len(c.Sites))
	}
	for i := range c.Lines {
		if slices.ContainsFunc(c.Lines[i].SameBlocks, func(same StackID) bool { return int(same) >= s.Count() }) {
			return fmt.Errorf("%w: line %d points outside the capture", ErrArtifact, i)
		}
	}
	for i := range c.Sites {
		if !c.holds(&c.Sites[i]) {
			return fmt.Errorf("%w: site %d points outside the capture", ErrArtifact, i)
		}
	}
	return nil
}

// holds reports whether all that a site points to is in the capture.
func (c *Capture) holds(site *Site) bool {
	stacks := c.Stacks.Count()
	return int(site.Stack) < stacks && site.Heap >= NoHeap && int(site.Heap) < len(c.Heaps) &&
		len(site.Usage) == len(c.Snapshots) && site.Kind <= KindHeapVirtual &&
		(site.Life != nil) == (c.Trace != nil) &&
		!slices.ContainsFunc(site.AliasStacks, func(alias StackID) bool { return int(alias) >= stacks })
}

// check refuses stacks whose parts point outside each other, or to a module that is not there.
func (s *Stacks) check(modules int) error {
	for row := range uint32(s.frames.n) {
		f := s.frames.at(row)
		if f.Text != 0 && int(f.Text) >= len(s.texts) {
			return fmt.Errorf("%w: frame names text %d of %d", ErrArtifact, f.Text, len(s.texts))
		}
		if int(f.Module) > modules {
			return fmt.Errorf("%w: frame names module %d of %d", ErrArtifact, f.Module, modules)
		}
	}
	for _, f := range s.flat {
		if int(f) >= s.frames.n {
			return fmt.Errorf("%w: stack names frame %d of %d", ErrArtifact, f, s.frames.n)
		}
	}
	return nil
}
