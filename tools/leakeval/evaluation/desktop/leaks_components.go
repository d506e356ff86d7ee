package desktop

import "heapdrift/tools/leakeval/evaluation/behaviour"

var leaksOfComponents = []behaviour.Behaviour{
	behaviour.NewLeak("COM collection: an enumerator is not released where the loop over it breaks early",
		"A raw IEnumVARIANT pointer is released behind the loop, and one return statement inside it skips that.",
		enumerators),
	behaviour.NewLeak("property page: the BSTR of one property is overwritten on each opening",
		"The variable that holds the description is passed as an out parameter twice without SysFreeString between.",
		propertyPage),
	behaviour.NewLeak("automation client: the SAFEARRAY of arguments is not destroyed when Invoke fails",
		"VariantClear is in the branch for success only, and calls fail whenever the server is busy with a dialog.",
		failedInvokes),
	behaviour.NewLeak("connection point: dialogs that are left by Escape do not call Unadvise",
		"The source keeps its reference to the sink of each such dialog for as long as the application lives.", adviseSinks),
	behaviour.NewLeak("worker threads of an apartment end without CoUninitialize",
		"What the apartment and its channel hook allocate stays behind for each thread that ends.", apartments),
	behaviour.NewLeak("plug-in DLL: tables that its static pointers hold are not freed at unload",
		"DllMain frees nothing at DLL_PROCESS_DETACH, so each load makes the tables again and loses the former ones.",
		pluginTables),
	behaviour.NewLeak(".NET interop: unmanaged strings are not freed when the call throws",
		"Marshal.FreeHGlobal follows the call instead of standing in a finally block.", interopStrings),
	behaviour.NewLeak("automation server: a child object and its parent hold each other",
		"Both references are counted, so a pair that a script drops without Close is never destroyed.", parentAndChild),
}

func enumerators(s *behaviour.Stack) {
	loops := count(s, 60, 6000, 200, 12000)
	share, bytes := lost(s, 0.001, 0.4, loops), s.UniformInt(40, 176)
	s.Lose(s.Requests(loops), share, 0.1, behaviour.FixedSize(bytes))
}

func propertyPage(s *behaviour.Stack) {
	properties := s.UniformInt(3, 40)
	pages := count(s, 10, 400, 25, min(1500, 24000/float64(properties)))
	typical, stays := s.LogUniform(24, 300), min(s.LogUniform(2, 200), s.Seconds/30)
	for _, at := range s.Requests(pages) {
		s.Alloc(at, s.Size(typical, 0.7))
		closed := at + s.Exponential(stays)
		for range properties {
			b := s.Alloc(at+0.2*s.Float64(), s.Size(typical, 0.7))
			s.Free(b, closed)
		}
	}
}

func failedInvokes(s *behaviour.Stack) {
	calls := count(s, 30, 5000, 100, 12000)
	arguments := s.LogUniform(60, 2000)
	s.Churn(s.Requests(calls), 0.3, s.Sizes(arguments, 0.5))
	bursts := s.UniformInt(9, 40)
	perBurst, pause := s.LogUniform(2, 70), s.LogUniform(0.05, 3)
	for _, at := range spaced(s, bursts, 0) {
		for range 1 + s.Poisson(perBurst) {
			at += s.Exponential(pause)
			s.Alloc(at, s.Size(arguments, 0.5))
		}
	}
}

func adviseSinks(s *behaviour.Stack) {
	dialogs := count(s, 8, 1000, 60, 5000)
	share, bytes := lost(s, 0.02, 0.9, dialogs), s.UniformInt(24, 400)
	open := min(s.LogUniform(2, 600), s.Seconds/25)
	s.Lose(s.Requests(dialogs), share, open, behaviour.FixedSize(bytes))
}

func apartments(s *behaviour.Stack) {
	perThread := s.UniformInt(1, 7)
	threads := int(count(s, 5, 300, 16, 2500/float64(perThread)))
	starts := spaced(s, threads, 0)
	if s.Chance(0.4) { // a timer starts them instead of the user
		starts = s.Every(s.Seconds/float64(threads), 0.3)
	}
	for _, at := range starts {
		ends := at + s.Exponential(min(60, s.Seconds/50))
		for i := range perThread {
			s.Alloc(at+0.01*float64(i), 64<<s.IntN(5))
		}
		for range s.IntN(4) {
			s.AllocFor(at, ends-at, 96)
		}
	}
}

func pluginTables(s *behaviour.Stack) {
	s.UseHeap(s.IntN(4))
	perLoad, stay := s.UniformInt(3, 60), s.UniformInt(1, 3)
	loads := int(count(s, 6, 150, 15, 24000/float64(perLoad)))
	loads = min(loads, 1200)
	loaded := min(s.LogUniform(1, 300), s.Seconds/float64(2*loads))
	for _, at := range jobs(s, loads) {
		for i := range perLoad {
			b := s.Alloc(at+0.5*s.Float64(), s.Size(500, 1))
			if i >= stay {
				s.Free(b, at+0.5+loaded)
			}
		}
	}
}

func interopStrings(s *behaviour.Stack) {
	calls := count(s, 2000, 40000, 3000, 25000)
	share, typical := lost(s, 0.0005, 0.03, calls), s.LogUniform(16, 400)
	s.Lose(s.Requests(calls), share, 0.01, s.Sizes(typical, 0.6))
}

func parentAndChild(s *behaviour.Stack) {
	scripts := count(s, 10, 800, 80, 3000)
	share, children := lost(s, 0.03, 0.6, scripts)/2, s.UniformInt(1, 4)
	share = max(share, 20/scripts)
	lives := min(s.LogUniform(0.5, 400), s.Seconds/30)
	for _, at := range s.Requests(scripts) {
		isDropped := s.Chance(share)
		ends := at + s.Exponential(lives)
		for i := range 1 + children {
			b := s.Alloc(at+0.02*float64(i), []int{232, 88}[min(i, 1)])
			if !isDropped {
				s.Free(b, ends)
			}
		}
	}
}
