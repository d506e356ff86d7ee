package hidden

import (
	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// leaksOfParts are those of plug-ins, and of single blocks that grow.
var leaksOfParts = []behaviour.Behaviour{
	behaviour.NewLeak("report server: a plug-in DLL is loaded and unloaded, and each life of it loses a few blocks",
		"The DLL frees its tables when it is unloaded, but not what its threads had registered.", pluginLives),
	behaviour.NewLeak("office client: an add-in with a heap of its own loses some of what it makes for one kind of document",
		"The add-in runs for a part of the documents only, and loses an object of some of its calls.", addInHeap),
	behaviour.NewLeak("journal service: arrays of journals grow and are freed, the index of all journals grows for ever",
		"The index gets an element per closed journal and is never shortened; it is one block that moves.", growingIndex),
	behaviour.NewLeak("telemetry client: a text buffer grows by a share at each overflow and is never emptied, beside short texts",
		"Events are appended to one buffer which nobody sends since the endpoint was switched off.", growingText),
}

// pluginLives lose some blocks in each life of the DLL.
func pluginLives(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	loads := append(bouts(s, 7, 15, 0.01, 0.98), s.Seconds)
	blocks, size, least := s.LogUniformInt(20, 700), sizes(s, 40, 4000), s.UniformInt(2, 4)
	for i, from := range loads[:len(loads)-1] {
		end := from + (loads[i+1]-from)*s.Uniform(0.1, 0.8)
		lost := s.Picked(blocks, s.UniformInt(least, least+3))
		for i := range blocks {
			at := from + (end-from)*s.Float64()*s.Float64()
			block := s.Alloc(at, size())
			switch {
			case lost[i]:
			case s.Chance(0.4):
				s.Free(block, at+(end-at)*s.Float64())
			default:
				s.Free(block, end)
			}
		}
	}
}

// addInHeap works in many short windows of the run, and all of it is in a private heap.
func addInHeap(s *behaviour.Stack) {
	s.UseHeap(s.UniformInt(1, 3))
	windows, width := s.UniformInt(9, 20), s.Uniform(0.2, 0.5)
	n := s.LogUniformInt(300, 5000)
	mean, size := held(s, n, 300), sizes(s, 32, 3000)
	lost := s.Picked(n, min(s.LogUniformInt(16, 140), n/12))
	for i := range n {
		at := s.Seconds * (float64(s.IntN(windows)) + width*s.Float64()) / float64(windows)
		object := s.Alloc(at, size())
		if !lost[i] {
			s.Free(object, at+s.Exponential(mean))
		}
	}
}

// growingIndex is one block among many which grow in the same way and are freed.
func growingIndex(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	step, from := s.LogUniformInt(64, 8192), s.Uniform(0, 0.4)
	grows := atWork(s, s.UniformInt(12, 90), from, 1)
	index := s.Alloc(grows[0], step)
	for i, at := range grows[1:] {
		index = s.Resize(index, at, step*(i+2))
	}
	length := s.Seconds * s.LogUniform(0.001, 0.06)
	for _, at := range atWork(s, s.LogUniformInt(30, 800), 0, 1) {
		growAndFree(s, at, length*s.Uniform(0.3, 1), step, s.UniformInt(1, 12))
	}
}

// growAndFree makes an array that grows some times and is freed.
func growAndFree(s *behaviour.Stack, at, seconds float64, step, times int) {
	array := s.Alloc(at, step)
	for i := range times {
		if moved := at + seconds*float64(i+1)/float64(times+1); moved <= s.Seconds {
			array = s.Resize(array, moved, step*(i+2))
		}
	}
	s.Free(array, at+seconds)
}

// growingText overflows more and more seldom, as the buffer gets larger.
func growingText(s *behaviour.Stack) {
	factor, capacity := s.Uniform(1.08, 1.22), s.Uniform(0.01, 0.04)
	bytes := s.LogUniform(4e4, 4e6)
	byWork := s.Chance(0.5)
	text := s.Alloc(0, int(bytes*capacity))
	for ; capacity < 0.99; capacity *= factor {
		text = s.Resize(text, share(s, capacity, byWork), int(bytes*capacity*factor))
	}
	n := s.LogUniformInt(100, 3500)
	mean, step := held(s, n, 300), s.LogUniformInt(64, 4096)
	for _, at := range atWork(s, n, 0, 1) {
		growAndFree(s, at, s.Exponential(mean), step, s.UniformInt(0, 6))
	}
}
