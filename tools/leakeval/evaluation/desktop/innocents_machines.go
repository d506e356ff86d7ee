package desktop

import (
	"math"
	"slices"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var innocentMachines = []behaviour.Behaviour{
	behaviour.NewInnocent("media player: packets wait in a queue until they are decoded",
		"The queue has a depth, and stopping a clip empties it.", packets),
	behaviour.NewInnocent("game: all of a level is freed when the next one is loaded",
		"Levels are of different sizes, but only one is there at a time.", levels),
	behaviour.NewInnocent("game: entity slabs are added in fights and trimmed when most are idle for long",
		"The number of slabs follows the fights, late on the way down.", entitySlabs),
	behaviour.NewInnocent("device monitor: all devices leave and come back whenever the hub is reset",
		"A record goes when its device leaves; double arrivals replace the record.", hubResets),
	behaviour.NewInnocent("tray utility: a ring of measured values for its graph",
		"The ring is full after a small part of the run and each new value frees the oldest.", measurements),
	behaviour.NewInnocent("chat window: messages that are being laid out, more and more as the evening goes on",
		"Each is freed soon after it is drawn; only their rate rises.", risingMessages),
	behaviour.NewInnocent("renderer: textures that fell out of sight are freed when the fence of their frame has passed",
		"Release is deferred for some frames and then happens in lots.", textures),
}

func packets(s *behaviour.Stack) {
	s.UseHeap(s.IntN(4))
	clips := s.UniformInt(12, 150)
	perClip := s.LogUniform(2000, 26000) / float64(clips)
	gap := s.Seconds / float64(clips) * s.Uniform(0.3, 0.49) / perClip // seconds between packets
	depth, typical := s.LogUniform(2, min(400, max(perClip/2, 3))), s.LogUniform(200, 9000)
	for _, at := range jobs(s, clips) {
		stops := at + gap*perClip
		for ; at < stops; at += gap {
			s.Free(s.Alloc(at, s.Size(typical, 0.5)), min(at+gap*depth*s.Uniform(0.9, 1), stops+0.01))
		}
	}
}

func levels(s *behaviour.Stack) {
	s.UseHeap(s.IntN(4))
	number := s.UniformInt(10, 45)
	typical, loads := min(s.LogUniform(20, 2500), 22000/float64(number)), s.Uniform(0.02, 0.2)
	starts := jobs(s, number)
	starts[0] = 1
	for _, at := range starts {
		ends := following(s, starts, at)
		takes := s.Seconds / float64(number) * loads
		for range s.Size(typical, 0.2) {
			s.Free(s.Alloc(at+takes*s.Float64(), s.Size(800, 1.3)), max(ends, at+takes))
		}
	}
}

func entitySlabs(s *behaviour.Stack) {
	perSlab, quiet, fight := float64(s.UniformInt(8, 64)), s.LogUniform(60, 900), s.LogUniform(2, 25)
	often, fades := s.Uniform(0.02, 0.15), s.Uniform(0.5, 0.9)
	steps, patience := s.UniformInt(150, 1500), s.UniformInt(2, 10)
	wanted, idle := quiet, 0
	var slabs []behaviour.Block
	for i := range steps {
		at := (float64(i) + s.Float64()) / float64(steps) * s.Seconds
		if s.Chance(often) {
			wanted = quiet * s.Uniform(1, fight)
		}
		wanted = quiet + (wanted-quiet)*fades
		needs := int(math.Ceil(wanted / perSlab))
		for len(slabs) < needs {
			slabs = append(slabs, s.Alloc(at, int(perSlab)*192))
		}
		if idle++; needs*2 > len(slabs) {
			idle = 0
		}
		if idle > patience {
			keep := needs + needs/2
			s.FreeAll(slabs[keep:], at)
			slabs, idle = slabs[:keep], 0
		}
	}
	s.FreeAll(slabs, shutdown(s))
}

func hubResets(s *behaviour.Stack) {
	devices, double := s.UniformInt(4, 300), s.Uniform(0, 0.4)
	resets := s.LogUniform(8, 200)
	resets = min(resets, 18000/float64(devices))
	starts := jobs(s, max(int(resets), 8))
	starts[0] = 0.5
	away := s.LogUniform(0.1, 20)
	for _, at := range starts {
		leaves := following(s, starts, at)
		for range devices {
			arrives, bytes := at+away+s.Exponential(1), s.Size(300, 0.3)
			b := s.Alloc(arrives, bytes)
			if s.Chance(double) {
				again := arrives + s.Exponential(0.5)
				s.Free(b, again)
				b = s.Alloc(again, bytes)
			}
			s.Free(b, max(leaves, arrives))
		}
	}
}

func measurements(s *behaviour.Stack) {
	number := s.LogUniform(200, 20000)
	keeps := int(min(number*s.LogUniform(0.01, 0.3), 3000))
	bytes := s.UniformInt(16, 128)
	var ring []behaviour.Block
	for _, at := range s.Every(s.Seconds/number, s.Uniform(0, 0.4)) {
		if ring = append(ring, s.Alloc(at, bytes)); len(ring) > keeps {
			s.Free(ring[0], at)
			ring = ring[1:]
		}
	}
	s.FreeAll(ring, shutdown(s))
}

func risingMessages(s *behaviour.Stack) {
	number, steepness := s.LogUniform(300, 20000), s.Uniform(1.3, 2)
	lives := s.Seconds * s.LogUniform(0.00005, 0.02)
	instants := make([]float64, int(number))
	for i := range instants { // the rate is as the (steepness − 1)-th power of time
		instants[i] = s.Seconds * math.Pow(s.Float64(), 1/steepness)
	}
	slices.Sort(instants)
	s.Churn(instants, lives, s.Sizes(350, 0.7))
}

func textures(s *behaviour.Stack) {
	s.UseHeap(s.UniformInt(1, 3))
	number := s.LogUniform(500, 20000)
	seen := s.Seconds * s.LogUniform(0.001, 0.03)
	fences := s.Every(max(s.Seconds*s.LogUniform(0.0002, 0.01), 0.1), 0.05)
	for _, at := range s.Requests(number) {
		b := s.Alloc(at, 1024<<s.IntN(7))
		unseen := at + min(s.Exponential(seen), 5*seen)
		s.Free(b, following(s, fences, following(s, fences, unseen)))
	}
}
