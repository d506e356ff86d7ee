// Package blame decides whom the memory of a stack is counted against. In comes a stack of named frames; out go the
// part of each frame, the frame to blame, and the signature by which other runs and builds know the stack. It goes by
// names only, so that a stack is judged the same whatever evidence it comes from.
//
// Rules.Class judges each distinct frame once, Place each distinct stack, and Sign gives it its Signature.
//
// # The rules of a project
//
// One rule a line, top to bottom: of the rules that give a layer the first that a frame fulfils counts, before those of
// the core, and so for each attribute. A rule without a layer stops none behind it.
//
//	[module:GLOB] [function:GLOB] [path:GLOB] [origin:ORIGIN] -> ACTION [ACTION…]   # all conditions hold
//	[frame:GLOB] -> owner=NAME | known="why" | group="name"
//	stack:"FRAME < FRAME < …" -> owner=NAME | known="why" | group="name"
//
//	module    the image's name, with or without extension; letters of either case are equal
//	function  the name as the evidence spells it, or as signatures do: operator new, std::vector<T>::push_back
//	path      the image's path or the source file's, with slashes of either kind; letters of either case are equal
//	origin    system, third-party or app: what the core says of the frame
//	frame     any frame of the stack, by function, module, path or source file, as the suppressions of LeakSanitizer do
//	stack     the stack from its inner end, as the suppressions of Valgrind and Dr. Memory do, and alone in its rule.
//	          FRAME is FUNCTION, MODULE!FUNCTION, "..." for any number of frames, or "MODULE!..." for one or more of
//	          a module. The allocator's frames may be left out, and frames further out match
//
// GLOB covers the whole text with * for any characters and ? for any one; what has spaces or # stands in quotes, in
// which \" is a quote. Actions that give a layer, at most one in a rule:
//
//	+app         the team's own. Its operator new and containers stay what they are, unless the rule names a function
//	-app         a third party's; third-party says the same, system that it is of Windows
//	alloc        allocates for its caller: skipped at the inner end of stacks
//	plumbing     whoever uses it is to blame; skipped wherever it stands
//	base         the start of a thread: dropped at the outer end of stacks
//	tool         instrumentation: skipped wherever it stands
//
// The others say of a whole stack whose it is (owner=), why it is no news (known=) and where it belongs (group=). They
// are looked for at the frame to blame first, then at the next ones toward the root, as triage.ini of WinDbg is; frame:
// and stack: rules count as if the frame to blame fulfilled them.
//
// # Sources
//
// The lists of functions follow the public symbols of Windows and of the run-time libraries; that a signature skips
// what every stack shares follows Socorro's signature generation (prefix and irrelevant lists) and the culling of
// xperf, and the normalised names follow Socorro's. Suppressions: the documentation of LeakSanitizer. Owners:
// "Specifying Module and Function Owners" in the documentation of Windows' debuggers.
package blame

// A Layer says what part a frame has in a stack.
type Layer string

// The layers.
const (
	LayerTool       Layer = "tool"        // instrumentation: skipped
	LayerAllocator  Layer = "alloc"       // allocates on behalf of its caller: skipped at the inner end
	LayerHeapGrowth Layer = "heap-growth" // a heap that grows: of memory that heaps take from the system, never blamed
	LayerPlumbing   Layer = "plumbing"    // containers, strings, thunks: in titles, not blamed
	LayerBase       Layer = "base"        // the start of a thread, at the outer end: dropped
	LayerSystem     Layer = "system"      // part of Windows
	LayerThirdParty Layer = "third-party" // a library that is neither the team's nor part of Windows
	LayerApp        Layer = "app"         // the team's own code
)

// A Module is what is known of the image that frames lie in.
type Module struct {
	Name    string // as debuggers print it before the "!": "app" of app.exe
	Path    string // as the evidence spells it; "" or a bare name where only that is known
	Own     bool   // the team uploaded its PDB
	Private bool   // its symbols name source lines
	Program bool   // it is the image that the process was started from
	// Build tells builds of the image apart, for frames without a name.
	Build string
}

// A Frame is one call as blame sees it.
type Frame struct {
	Module   *Module // nil outside every module
	Function string  // undecorated; "" where unknown
	Offset   uint64  // bytes from the module's base where the function is unknown; outside every module the address; 0 unknown
	File     string  // source, "" where unknown
	Kernel   bool    // its address is in the kernel's half
}

// A Class is what the rules say of a frame, whatever stack it is in. It is small: what all frames of one function, or
// of one module without function names, have in common is decided once and shared.
type Class struct {
	*Decision
	offset uint64 // of a frame without a function
}

// A Decision is the layer that a frame has at the inner end of a stack, at the outer end, and in between, each with the
// rule that gave it.
type Decision struct {
	Inner, Between, Outer Mark
	// Unnamed says that the name holds an offset that the next build will change.
	Unnamed bool

	name       string          // normalised; of unnamed frames what stands before the offset
	behind     string          // of unnamed frames what stands behind it
	hash       uint64          // of both, so that most names are told apart at once
	scope      string          // of a lambda: the name of the function it is written in
	attributes []*rule         // of the project that the frame fulfils, in the order of the file
	frames     []*framePattern // of stack: patterns, that the frame fulfils
	stackRules []*rule         // that may match stacks with the frame
}

// A Mark is a layer and the id of the rule that gave it, such as "alloc/crt" or "project/3".
type Mark struct {
	Layer Layer
	Rule  string
}

// A MarkedStack is a stack with every frame's part in it.
type MarkedStack struct {
	Marks  []Mark // by frame, innermost first
	Blame  int    // index of the blamed frame; −1 for an empty stack
	Origin int    // index of the first frame behind the allocator's, whatever its layer; −1 for an empty stack
}
