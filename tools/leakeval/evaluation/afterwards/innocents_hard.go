package afterwards

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var innocentsHard = []behaviour.Behaviour{
	behaviour.NewInnocent("transcoding service: frames in flight while more and more jobs arrive",
		"Each frame is freed when it is encoded; only the number of those in flight rises with the jobs.", frames),
	behaviour.NewInnocent("conference helper: each participant's mix buffer grows to the richest format it met",
		"Formats and participants are few, and each buffer ends at its largest format.", mixBuffers),
	behaviour.NewInnocent("game: compiled shader variants, the rare ones are met late",
		"The material set allows a fixed number of variants, and the run meets them all.", shaderVariants),
	behaviour.NewInnocent("accounting program: a module's tables stay after it is first opened",
		"There are a few modules, each is loaded once, and the rest of the stack's blocks are freed.", modules),
	behaviour.NewInnocent("search service: posting lists in slots that fill slowly, popular ones stay",
		"The slots are bounded; when all are full a new list displaces an old one, mostly an unpopular one.", postingLists),
	behaviour.NewInnocent("mail relay: messages pile up while the next hop is away and are sent afterwards",
		"Every outage ends and the queue is drained before the run does.", relayQueue),
	behaviour.NewInnocent("add-in host: wrappers of managed objects wait for their generation's collection",
		"A wrapper is freed when a collection of its generation finds it dead, the oldest generation seldom.", wrappers),
	behaviour.NewInnocent("remote desktop gateway: channels with lives from moments to a seventh of the run",
		"A channel is freed when it closes, and the gateway closes each at its longest allowed life.", channels),
	behaviour.NewInnocent("key-value store: tombstones wait for a compaction that comes when there are enough",
		"A compaction frees nearly all of them, and the next one those that a reader still held.", tombstones),
}

func frames(s *behaviour.Stack) {
	n, rise := s.LogUniform(500, 4000), s.Uniform(1.5, 3)
	instants := s.Requests(n)
	for i, at := range instants {
		instants[i] = s.WhenDone(math.Pow(s.Work(at), 1/rise))
	}
	pass(s, instants, sizes(s, 4000, 400_000), lives(s, 0.002, 0.03), none)
}

func mixBuffers(s *behaviour.Stack) {
	slots, last, richer := int(s.LogUniform(15, 400)), s.Uniform(0.4, 0.64), s.Uniform(0.15, 0.5)
	skew, unit := s.Uniform(1, 2.5), s.LogUniform(100, 4000)
	messages := float64(slots) * s.Uniform(3, 25)
	held, format := make([]behaviour.Block, slots), make([]int, slots)
	for _, at := range s.Requests(messages) {
		at = s.WhenDone(last * s.Work(at))
		slot, wanted := int(float64(slots)*math.Pow(s.Float64(), skew)), 1
		for wanted < 6 && s.Chance(richer) {
			wanted++
		}
		bytes := int(unit * math.Pow(2, float64(wanted)))
		switch {
		case format[slot] == 0:
			held[slot] = s.Alloc(at, bytes)
		case wanted > format[slot]:
			held[slot] = s.Resize(held[slot], at, bytes)
		}
		format[slot] = max(format[slot], wanted)
	}
}

func shaderVariants(s *behaviour.Stack) {
	variants := int(s.LogUniform(30, 900))
	bytes, popular, draws := sizes(s, 800, 40_000), s.Uniform(0.7, 1.2), s.LogUniform(10, 200)
	for i := range variants {
		// The mean wait for a variant is the longer the less popular it is. Who is not met by then is met in the tour of the
		// last level, which ends before two thirds of the work.
		met := s.Exponential(math.Pow(float64(i+1), popular) / draws / 10)
		if met > 0.62 {
			met = s.Uniform(0.25, 0.64)
		}
		s.Alloc(s.WhenDone(met), bytes())
	}
}

func modules(s *behaviour.Stack) {
	bytes := sizes(s, 40, 3000)
	pass(s, s.Requests(s.LogUniform(50, 4000)), bytes, lives(s, 0.0005, 0.03), none)
	opening := s.LogUniform(0.002, 0.03)
	for _, share := range spread(s, s.UniformInt(3, 8), 0, 0.6) {
		for range int(s.LogUniform(8, 150)) {
			s.Alloc(s.WhenDone(share+opening*s.Float64()), bytes())
		}
	}
}

func postingLists(s *behaviour.Stack) {
	c := &cache{s: s, bound: int(s.LogUniform(40, 1500))}
	full, skew := s.Uniform(0.35, 0.6), s.Uniform(1, 2.5)
	bytes := sizes(s, 200, 30_000)
	for _, at := range s.Requests(float64(c.bound) / full) {
		// Slots with high numbers are popular, their lists are displaced seldom.
		c.put(at, bytes(), func(n int) int { return int(float64(n) * math.Pow(s.Float64(), skew)) })
	}
}

func relayQueue(s *behaviour.Stack) {
	type outage struct{ begin, end, drained float64 }
	var outages []outage
	for _, begin := range spread(s, s.UniformInt(2, 5), 0.05*s.Seconds, 0.68*s.Seconds) {
		if n := len(outages); n > 0 {
			begin = max(begin, outages[n-1].drained)
		}
		end := begin + s.Seconds*s.Uniform(0.02, 0.09)
		outages = append(outages, outage{begin, end, end + s.Seconds*s.LogUniform(0.003, 0.04)})
	}
	life, bytes := lives(s, 0.0002, 0.006), sizes(s, 800, 25_000)
	for _, at := range s.Requests(s.LogUniform(300, 6000)) {
		until := at + life()
		for _, o := range outages {
			if o.begin <= at && at < o.end {
				// First come, first served.
				until = o.end + (o.drained-o.end)*(at-o.begin)/(o.end-o.begin)
			}
		}
		s.Free(s.Alloc(at, bytes()), until)
	}
}

func wrappers(s *behaviour.Stack) {
	bytes := sizes(s, 48, 600)
	oldest := s.LogUniform(10, 16)
	middle := oldest * s.LogUniform(3, 8)
	young := middle * s.LogUniform(3, 8)
	collections := [3][]float64{
		s.Every(s.Seconds/oldest, 0.8), s.Every(s.Seconds/middle, 0.6), s.Every(s.Seconds/young, 0.4),
	}
	old := s.LogUniform(0.01, 0.08)
	aged := old + s.LogUniform(0.05, 0.2)
	for _, at := range s.Requests(s.LogUniform(800, 10_000)) {
		generation, chance := 2, s.Float64()
		if chance < old {
			generation = 0
		} else if chance < aged {
			generation = 1
		}
		s.Free(s.Alloc(at, bytes()), after(s, collections[generation], at))
	}
}

func channels(s *behaviour.Stack) {
	life := tails(s, s.Seconds*s.LogUniform(0.0005, 0.01), s.Seconds/7)
	s.UseHeap(s.UniformInt(0, 3))
	pass(s, s.Requests(s.LogUniform(200, 4000)), sizes(s, 300, 40_000), life, none)
}

func tombstones(s *behaviour.Stack) {
	n := s.LogUniform(400, 8000)
	enough, readers := n/s.LogUniform(10, 40), s.Uniform(0, 0.15)
	bytes, limit := sizes(s, 32, 400), min(s.LogNormal(enough, 0.4), 2*enough)
	var held, kept []behaviour.Block
	for _, at := range s.Requests(n) {
		held = append(held, s.Alloc(at, bytes()))
		if float64(len(held)) < limit {
			continue
		}
		s.FreeAll(kept, at)
		kept = nil
		for _, b := range held {
			if s.Chance(readers) {
				kept = append(kept, b)
			} else {
				s.Free(b, at)
			}
		}
		held, limit = nil, min(s.LogNormal(enough, 0.4), 2*enough)
	}
}
