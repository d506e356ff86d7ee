package desktop

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var innocentDocuments = []behaviour.Behaviour{
	behaviour.NewInnocent("undo history with a limited number of steps",
		"The oldest step goes when the limit is reached, which is early in the run.", undoSteps),
	behaviour.NewInnocent("paint program: undo history within a budget of bytes",
		"When the budget is spent, the oldest steps go until a good part of it is free again.", undoBytes),
	behaviour.NewInnocent("documents are opened and closed, paragraphs go with their document",
		"No document stays open for more than a small part of the run.", documents),
	behaviour.NewInnocent("autosave: the new snapshot is complete before the former one is freed",
		"Never more than two snapshots are there.", autosave),
	behaviour.NewInnocent("text editor: pieces of the piece table are joined at each save",
		"Edits add pieces, and a save joins all that came since the former one.", pieces),
	behaviour.NewInnocent("print queue: pages come in bursts and the printer works them off",
		"Each page is freed when it is printed, and the queue is empty between most jobs.", printQueue),
	behaviour.NewInnocent("spell checker: words of the user's language are read into memory when they are first met",
		"The vocabulary of the documents is finite and has been met by the middle of the run.", vocabulary),
	behaviour.NewInnocent("search: the list of hits is doubled as it fills and freed with the panel",
		"Each search has one list, which ends with it.", hits),
	behaviour.NewInnocent("grammar check in the background: findings of a pass go when it ends",
		"A pass builds up many findings and frees them as a whole.", grammarPasses),
}

func undoSteps(s *behaviour.Stack) {
	limit := s.UniformInt(12, 1000)
	edits := min(float64(limit)*s.LogUniform(5, 60), 18000)
	undone := s.LogUniform(0.002, 0.05)
	typical := s.LogUniform(40, 1500)
	var steps []behaviour.Block
	for _, at := range s.Requests(edits) {
		if s.Chance(undone) { // the user takes some back and goes on from there
			keep := max(len(steps)-s.UniformInt(1, 8), 0)
			s.FreeAll(steps[keep:], at)
			steps = steps[:keep]
		}
		if steps = append(steps, s.Alloc(at, s.Size(typical, 0.6))); len(steps) > limit {
			s.Free(steps[0], at)
			steps = steps[1:]
		}
	}
	s.FreeAll(steps, shutdown(s))
}

func undoBytes(s *behaviour.Stack) {
	type step struct {
		block behaviour.Block
		bytes int
	}
	typical, spread, fits := s.LogUniform(500, 100000), s.Uniform(0.3, 1.3), s.LogUniform(15, 700)
	budget := int(typical * fits * math.Exp(spread*spread/2)) // the mean of sizes that spread so
	until := int(float64(budget) * s.Uniform(0.6, 0.95))
	held := 0
	var steps []step
	for _, at := range s.Requests(min(fits*s.LogUniform(6, 40), 16000)) {
		bytes := s.Size(typical, spread)
		if held+bytes > budget {
			for held > until {
				s.Free(steps[0].block, at)
				held -= steps[0].bytes
				steps = steps[1:]
			}
		}
		steps = append(steps, step{s.Alloc(at, bytes), bytes})
		held += bytes
	}
	for _, one := range steps {
		s.Free(one.block, shutdown(s))
	}
}

func documents(s *behaviour.Stack) {
	paragraphs := s.LogUniform(5, 150)
	opened := count(s, 10, 300, 60, 20000/paragraphs)
	open := min(s.LogUniform(10, 3600), s.Seconds/25)
	for _, at := range s.Requests(opened) {
		closed := at + min(s.Exponential(open), 4*open)
		for i := range min(s.Size(paragraphs, 0.4), 600) {
			s.Free(s.Alloc(at+0.003*float64(i), s.Size(250, 0.8)), closed+2)
		}
	}
}

func autosave(s *behaviour.Stack) {
	interval := min(s.LogUniform(20, 1200), s.Seconds/12)
	instants := s.Every(interval, 0.1)
	typical := min(s.LogUniform(5, 600), 24000/float64(len(instants)))
	var former []behaviour.Block
	for _, at := range instants {
		var snapshot []behaviour.Block
		takes := interval * s.Uniform(0.01, 0.15)
		for range 1 + s.Poisson(typical) {
			snapshot = append(snapshot, s.Alloc(at+takes*s.Float64(), s.Size(1200, 0.9)))
		}
		s.FreeAll(former, at+takes)
		former = snapshot
	}
	s.FreeAll(former, shutdown(s))
}

func pieces(s *behaviour.Stack) {
	saves := s.UniformInt(12, 80)
	instants, edits := spaced(s, saves, 0), s.LogUniform(4, 300)*float64(saves)
	for _, at := range s.Requests(min(edits, 24000)) {
		s.Free(s.Alloc(at, 56), following(s, instants, at))
	}
	for _, at := range instants { // what the joining makes
		s.Free(s.Alloc(at, s.Size(6000, 0.3)), following(s, instants, at))
	}
}

func printQueue(s *behaviour.Stack) {
	prints, pages := s.UniformInt(10, 70), s.LogUniform(5, 300)
	perPage := min(s.LogUniform(0.2, 9), 0.35*s.Seconds/(float64(prints)*pages))
	isFree := 0.0
	for _, at := range jobs(s, prints) {
		for i := range s.Size(pages, 0.5) {
			queued := at + 0.02*float64(i)
			isFree = max(isFree, queued) + perPage
			s.Free(s.Alloc(queued, s.Size(3000, 0.7)), isFree)
		}
	}
}

func vocabulary(s *behaviour.Stack) {
	mean := s.LogUniform(0.02, 0.12)
	for range int(s.LogUniform(80, 3500)) {
		s.Free(s.Alloc(early(s, mean), s.Size(30, 0.3)), shutdown(s))
	}
}

func hits(s *behaviour.Stack) {
	doublings := s.LogUniform(1, 9)
	open := min(s.LogUniform(1, 300), s.Seconds/30)
	for _, at := range s.Requests(count(s, 10, 1500, 60, 2500)) {
		bytes := 128
		b := s.Alloc(at, bytes)
		for range min(s.Poisson(doublings), 14) {
			at += s.Exponential(0.05)
			bytes *= 2
			b = s.Resize(b, at, bytes)
		}
		s.Free(b, at+s.Exponential(open))
	}
}

func grammarPasses(s *behaviour.Stack) {
	passes := s.UniformInt(10, 50)
	findings := min(s.LogUniform(20, 2000), 22000/float64(passes))
	lasts := s.Seconds / float64(passes) * s.Uniform(0.05, 0.5)
	for _, at := range jobs(s, passes) {
		for range s.Size(findings, 0.2) {
			s.Free(s.Alloc(at+lasts*s.Float64(), s.Size(150, 0.4)), at+lasts)
		}
	}
}
