package desktop

import (
	"slices"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var leaksOfDocuments = []behaviour.Behaviour{
	behaviour.NewLeak("word processor: closed documents with an embedded sheet stay in memory",
		"Container and embedded object hold each other, and closing breaks the cycle only if the object was activated.",
		embeddedSheets),
	behaviour.NewLeak("undo history: the snapshot of a step that is merged into the former one is dropped",
		"The history is limited and frees its oldest steps, but merging typed letters forgets the second snapshot.",
		mergedUndo),
	behaviour.NewLeak("printing: a DEVMODE copy stays behind when the user changes the paper tray",
		"The handle that PrintDlg returns replaces the former one without GlobalFree, in a few print jobs an hour.",
		deviceModes),
	behaviour.NewLeak("clipboard: a delayed rendering is lost when another program takes the clipboard",
		"SetClipboardData fails in that case and leaves the memory to the caller, who does not free it.", clipboardRendering),
	behaviour.NewLeak("macro recorder: compounds of an aborted macro are only in part freed when the document is saved",
		"The clean-up at saving walks the top level of each compound and misses what is nested.", abortedMacros),
	behaviour.NewLeak("script console: the transcript grows by reallocation and is never cut",
		"Each line is appended to a text that nobody reads again while the console is hidden.", transcript),
	behaviour.NewLeak("image editor: a tile that is evicted while it is saved loses its preview",
		"The tile cache has a limit and works; the preview that belongs to a tile is skipped under the saver's lock.",
		tilePreviews),
	behaviour.NewLeak("spell checker: suggestions stay when the language changes within the sentence",
		"The list belongs to the former checker object, which is replaced before it could free it.", suggestions),
}

func embeddedSheets(s *behaviour.Stack) {
	documents := count(s, 5, 150, 60, 500)
	share, typical := max(s.LogUniform(0.05, 0.8), 25/documents), s.LogUniform(2, 18)
	typical = min(typical, 2500/(documents*share))
	open := min(s.LogUniform(20, 3600), s.Seconds/20)
	for _, at := range s.Requests(documents) {
		isEmbedding := s.Chance(share)
		closed := at + s.Exponential(open)
		for range min(s.Size(typical, 0.6), 60) {
			b := s.Alloc(at+s.Exponential(0.5), s.Size(700, 1.2))
			if !isEmbedding {
				s.Free(b, closed)
			}
		}
	}
}

func mergedUndo(s *behaviour.Stack) {
	limit := s.UniformInt(16, 600)
	edits := min(float64(limit)*s.LogUniform(3, 40), 15000)
	edits = max(edits, 400)
	share, typical := lost(s, 0.004, 0.25, edits), s.LogUniform(80, 4000)
	var steps []behaviour.Block
	for _, at := range s.Requests(edits) {
		b := s.Alloc(at, s.Size(typical, 0.8))
		if s.Chance(share) {
			continue
		}
		if steps = append(steps, b); len(steps) > limit {
			s.Free(steps[0], at)
			steps = steps[1:]
		}
	}
	s.FreeAll(steps, shutdown(s))
}

func deviceModes(s *behaviour.Stack) {
	bytes := s.UniformInt(220, 3500)
	others := s.LogUniform(1, 400)
	for _, at := range s.Requests(others) {
		s.AllocFor(at, min(s.Exponential(20), s.Seconds/20), bytes)
	}
	for _, at := range spaced(s, s.UniformInt(14, 30), 0) {
		s.Alloc(at, bytes)
	}
}

func clipboardRendering(s *behaviour.Stack) {
	copies := count(s, 20, 900, 90, 4000)
	share, typical, spread := lost(s, 0.01, 0.5, copies), s.LogUniform(100, 60000), s.Uniform(0.8, 1.9)
	var held behaviour.Block = -1
	for _, at := range s.Requests(copies) {
		b := s.Alloc(at, min(s.Size(typical, spread), 30<<20))
		if s.Chance(share) {
			continue
		}
		if held >= 0 {
			s.Free(held, at)
		}
		held = b
	}
	if held >= 0 {
		s.Free(held, shutdown(s))
	}
}

func abortedMacros(s *behaviour.Stack) {
	aborts, perMacro := s.UniformInt(30, 300), s.LogUniform(3, 30)
	nested := s.Uniform(0.15, 0.6)
	saves := spaced(s, s.UniformInt(6, 40), 0)
	for _, at := range spaced(s, aborts, 0) {
		next := following(s, saves, at)
		for range min(1+s.Poisson(perMacro), int(3600/(nested*float64(aborts)))) {
			b := s.Alloc(at+s.Exponential(0.2), s.Size(120, 0.5))
			if !s.Chance(nested) {
				s.Free(b, next)
			}
		}
	}
}

func transcript(s *behaviour.Stack) {
	bytes := s.LogUniform(256, 16384)
	at, isGeometric := s.WhenDone(s.Uniform(0, 0.1)), s.Chance(0.4)
	b := s.Alloc(at, int(bytes))
	if isGeometric { // evenly many lines fill a block that grows by a factor ever more slowly
		factor := s.Uniform(1.03, 1.15)
		for work := s.Uniform(0.1, 0.2); work < 1; work *= factor {
			bytes *= factor
			b = s.Resize(b, s.WhenDone(work), int(bytes))
		}
		return
	}
	step := s.LogUniform(64, 65536)
	for _, at := range spaced(s, int(s.LogUniform(12, 1500)), 0.12) {
		bytes += step
		b = s.Resize(b, at, int(bytes))
	}
}

func tilePreviews(s *behaviour.Stack) {
	c := cache{s: s, limit: s.UniformInt(32, 400), randomly: s.Chance(0.3)}
	tiles, uses := c.limit*s.UniformInt(3, 12), min(float64(c.limit)*s.LogUniform(15, 60), 9000)
	share, preview := lost(s, 0.002, 0.1, uses/6), s.UniformInt(512, 6000)
	previews := map[behaviour.Block]behaviour.Block{}
	next := behaviour.Block(0)
	for _, at := range s.Requests(uses) {
		gone := c.use(at, popular(s, tiles), 16384)
		if newest := c.entries[len(c.entries)-1].block; newest >= next {
			previews[newest] = s.Alloc(at, preview)
			next = newest + 1
		}
		if gone >= 0 && !s.Chance(share) {
			s.Free(previews[gone], at)
		}
	}
	for _, e := range c.entries {
		s.Free(previews[e.block], shutdown(s))
	}
	c.close()
}

func suggestions(s *behaviour.Stack) {
	switches := spaced(s, s.UniformInt(20, 300), 0)
	words, perWord := s.LogUniform(100, 2500), s.UniformInt(2, 9)
	for _, at := range s.Requests(words) {
		for range perWord {
			s.AllocFor(at, s.Exponential(1.5), s.Size(28, 0.3))
		}
	}
	for _, at := range slices.DeleteFunc(switches, func(float64) bool { return s.Chance(0.25) }) {
		for range perWord {
			s.Alloc(at, s.Size(28, 0.3))
		}
	}
}
