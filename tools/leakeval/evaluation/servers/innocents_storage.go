package servers

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var innocentStorage = []behaviour.Behaviour{
	behaviour.NewInnocent("storage engine: slabs of the write buffer, freed as a whole by the flush",
		"Slabs collect until the buffer is full, and the flush then frees all of them.", writeBuffer),
	behaviour.NewInnocent("database server: row versions are purged when the oldest reader is done",
		"Long reports hold versions back for a while, and the purge catches up after each of them.", rowVersions),
	behaviour.NewInnocent("key-value store: replaced values are retired and reclaimed two epochs later",
		"The number of keys is fixed, and so is the number of values that wait for their epoch.", epochs),
	behaviour.NewInnocent("key-value store: tombstones stay until the compaction",
		"Each deletion leaves a tombstone, and a compaction frees them when there are too many.", tombstones),
	behaviour.NewInnocent("managed service: native handles are released by finalizers after a collection",
		"Handles are garbage soon, but those that survive a young collection wait for a full one.", finalizers),
	behaviour.NewInnocent("service host: modules make their tables when a feature is used for the first time",
		"There is a finite number of modules, the last is first used before 60 % of the run, and tables stay.", lateModules),
}

func writeBuffer(s *behaviour.Stack) {
	s.MaybePrivate(0.4)
	n, slab := s.LogUniform(200, 8000), 1<<s.UniformInt(12, 20)
	full := int(max(3, n/s.LogUniform(8, 200)))
	flush := min(s.LogUniform(0.5, 120), s.Seconds/50)
	var slabs []behaviour.Block
	for _, at := range s.Requests(n) {
		slabs = append(slabs, s.Alloc(at, slab))
		if len(slabs) < full {
			continue
		}
		s.FreeAll(slabs, at+flush)
		slabs = slabs[:0]
	}
}

func rowVersions(s *behaviour.Stack) {
	n, size := s.LogUniform(300, 10000), sizes(s, 60, 2000)
	purge, quick := min(s.LogUniform(0.5, 60), s.Seconds/100), flight(s, n, 0.01, 5)
	length := s.Seconds * s.LogUniform(0.005, 0.06)
	reports := episodes(s, 4, 14)
	ends := make([]float64, len(reports))
	for i, at := range reports {
		ends[i] = at + s.Uniform(0.5, 1)*length
	}
	for _, at := range s.Requests(n) {
		due := at + s.Exponential(quick)
		for i := range reports {
			if reports[i] <= at && at < ends[i] {
				due = max(due, ends[i])
			}
		}
		s.Free(s.Alloc(at, size()), behaviour.NextTick(due, purge))
	}
}

func epochs(s *behaviour.Stack) {
	keys, n := int(s.LogUniform(20, 1500)), s.LogUniform(500, 12000)
	epoch, size := int(max(4, n/s.LogUniform(20, 400))), sizes(s, 24, 3000)
	values := make([]behaviour.Block, keys)
	// The store is loaded when the service starts.
	load := min(s.LogUniform(1, 300), s.Seconds/12)
	for i := range values {
		values[i] = s.Alloc(load*s.Float64(), size())
	}
	var retired, waiting []behaviour.Block
	for _, at := range s.Requests(n) {
		if at < load {
			continue
		}
		i := s.IntN(keys)
		retired = append(retired, values[i])
		values[i] = s.Alloc(at, size())
		if len(retired) < epoch {
			continue
		}
		s.FreeAll(waiting, at)
		waiting, retired = retired, nil
	}
}

func tombstones(s *behaviour.Stack) {
	n, bytes := s.LogUniform(200, 9000), s.UniformInt(24, 160)
	limit := int(max(5, n/s.LogUniform(7, 80)))
	young := s.Uniform(0, 0.4) // so much of the newest is kept, as readers may still need it
	var list []behaviour.Block
	for _, at := range s.Requests(n) {
		list = append(list, s.Alloc(at, bytes))
		if len(list) < limit {
			continue
		}
		cut := int(float64(len(list)) * (1 - young))
		s.FreeAll(list[:cut], at)
		list = append([]behaviour.Block(nil), list[cut:]...)
	}
}

func finalizers(s *behaviour.Stack) {
	n, bytes := s.LogUniform(500, 12000), s.UniformInt(32, 700)
	survive, collection := s.Uniform(0.02, 0.5), int(n/s.LogUniform(60, 400))+3
	full, delay := s.UniformInt(3, 7), s.LogUniform(0.001, 1)
	var young, old []behaviour.Block
	count := 0
	for _, at := range s.Requests(n) {
		young = append(young, s.Alloc(at, bytes))
		// The collector adapts, so collections are not quite regular.
		if float64(len(young)) < float64(collection)*s.Uniform(0.9, 1.1) {
			continue
		}
		count++
		for _, b := range young {
			if s.Chance(survive) {
				old = append(old, b)
			} else {
				s.Free(b, at+delay)
			}
		}
		young = young[:0]
		if count%full == 0 {
			s.FreeAll(old, at+2*delay)
			old = old[:0]
		}
	}
}

func lateModules(s *behaviour.Stack) {
	skew := s.Uniform(0.7, 3) // most are used early, or not
	last := min(0.58*s.Seconds, s.WhenDone(0.58))
	for range s.UniformInt(5, 60) {
		size := sizes(s, 32, 9000)
		at := last * math.Pow(s.Float64(), skew)
		took := s.LogUniform(0.01, s.Seconds/100)
		s.Burst(1+s.Poisson(s.LogUniform(1, 30)), at, took, size)
	}
	if s.Chance(0.6) {
		n := s.LogUniform(50, 2500)
		churn(s, n, flight(s, n, 0.01, 30), sizes(s, 32, 9000))
	}
}
