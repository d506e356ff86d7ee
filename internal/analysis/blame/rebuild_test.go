package blame_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/corpus"
	"heapdrift/internal/needs"
)

// A sample is a program that the test builds.
type sample struct {
	name       string
	sources    []string // of the program; they are changed for some variants
	libraries  []string // built alike for all
	defines    []string
	entries    []string // functions that Windows or a pointer calls
	allocating []string
	lab        bool
}

var samples = []sample{
	{name: "mailer", sources: []string{"testdata/rebuild/mailer.cpp"}, libraries: []string{"testdata/rebuild/runtime.cpp"},
		entries: []string{"mainCRTStartup", "pollThread", "indexThread", "mail::SpamFilter::accepts",
			"mail::SpamFilter::act"}, allocating: []string{"malloc"}},
	{name: "player", sources: []string{"testdata/rebuild/player.cpp"}, libraries: []string{"testdata/rebuild/runtime.cpp"},
		entries:    []string{"mainCRTStartup", "decodeThread", "player::visualise", "player::equalise"},
		allocating: []string{"malloc"}},
	{name: "batterymeter", sources: []string{"batterymeter/battery.cpp", "batterymeter/sensors.cpp",
		"batterymeter/rt.cpp"}, libraries: []string{"testdata/rebuild/lab.cpp"}, defines: []string{"HAVE_MAIN"},
		entries:    []string{"mainCRTStartup", "TemperatureAndBatteryUpdaterThread", "HistoryThread"},
		allocating: []string{"malloc", "realloc", "HeapAlloc", "LocalAlloc"}, lab: true},
	{name: "bookstore", sources: []string{"bookstore-b101/bookstore.cpp", "bookstore-b101/catalog.cpp",
		"bookstore-b101/rt.cpp"}, libraries: []string{"testdata/rebuild/lab.cpp"},
		defines: []string{"HAVE_MAIN", "BUILD=101"},
		entries: []string{"mainCRTStartup", "OrderWorker", "bookstore::OrderProcessor::Handle",
			"bookstore::OrderProcessor::Flush"}, allocating: []string{"malloc"}, lab: true},
	{name: "MemoryTestApp", sources: []string{"MemoryTestApp/memtest.cpp", "MemoryTestApp/rt.cpp"},
		libraries: []string{"testdata/rebuild/lab.cpp"}, defines: []string{"HAVE_MAIN"},
		entries: []string{"mainCRTStartup"}, allocating: []string{"malloc", "VirtualAlloc"}, lab: true},
}

// A variant is another build of the same program.
type variant struct {
	name   string
	flags  []string
	target string // "" for 64 bits
	// drifts: the compiler turns the last call of many functions into a jump, so that frames of other builds are
	// missing. Names cannot show that, so it is enough that Drifts finds these signatures again.
	drifts bool
	change func(source string) string
}

var variants = []variant{
	{name: "O2", flags: []string{"-O2"}}, // the base
	{name: "shifted lines, more lambdas", flags: []string{"-O2"}, change: shift},
	{name: "reordered functions", flags: []string{"-O2"}, change: reorder},
	{name: "O1", flags: []string{"-O1"}},
	{name: "Os", drifts: true, flags: []string{"-Os"}},
	{name: "O2, nothing inlined", flags: []string{"-O2", "-fno-inline", "-fno-optimize-sibling-calls"}},
	{name: "O0", flags: []string{"-O0"}},
	{name: "32 bits, O2", flags: []string{"-O2"}, target: "i686"},
	{name: "32 bits, O0", flags: []string{"-O0"}, target: "i686"},
	{name: "O2, nothing inlined, last calls are jumps", drifts: true, flags: []string{"-O2", "-fno-inline"}},
}

// Rebuilds from changed sources, or with other compiler options, keep at least 95 % of the signatures in each variant.
func TestRebuild(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	t.Parallel()
	for _, tool := range []string{"clang", "lld-link"} {
		needs.Program(t, tool)
	}
	kept := make([][]outcome, len(samples))
	mistaken := make([]outcome, len(samples))
	t.Run("build", func(t *testing.T) {
		for i, s := range samples {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				kept[i], mistaken[i] = s.rebuild(t)
			})
		}
	})
	if slices.ContainsFunc(kept, func(of []outcome) bool { return of == nil }) {
		t.Skip("without the programs of the corpus there are too few signatures to say anything of shares")
	}
	for i, v := range variants[1:] {
		var sum outcome
		for _, of := range kept {
			if of != nil {
				sum.base, sum.exact, sum.drifted = sum.base+of[i+1].base, sum.exact+of[i+1].exact, sum.drifted+of[i+1].drifted
			}
		}
		t.Logf("%s: %s", v.name, sum)
		if least := 95 * sum.base; 100*(sum.exact+sum.drifted) < least || !v.drifts && 100*sum.exact < least {
			t.Errorf("%s: too few signatures stay", v.name)
		}
	}
	var sum outcome
	for _, of := range mistaken {
		sum.base, sum.drifted = sum.base+of.base, sum.drifted+of.drifted
	}
	t.Logf("Drifts pairs %d of %d signatures that have no counterpart", sum.drifted, sum.base)
	if 10*sum.drifted > sum.base {
		t.Error("more than one in ten")
	}
}

// halves divides the signatures of one build in eight ways and pairs the halves: every pair is a mistake.
func halves(built map[string]blame.Signature) outcome {
	var o outcome
	for bit := range 8 {
		half := [2]map[string]blame.Signature{{}, {}}
		for id, s := range built {
			half[id[len("sig1:")+bit]&1][id] = s
		}
		of, _ := compareBuilds(half[0], half[1])
		o.base, o.drifted = o.base+of.base, o.drifted+of.drifted
	}
	return o
}

// An outcome counts the signatures of a base: those that another build has, and those that Drifts finds there.
type outcome struct{ base, exact, drifted int }

func (o outcome) String() string {
	share := func(n int) float64 { return 100 * float64(n) / float64(max(1, o.base)) }
	return fmt.Sprintf("%d of %d signatures kept (%.1f %%), %.1f %% with those that drifted", o.exact, o.base,
		share(o.exact), share(o.exact+o.drifted))
}

// rebuild builds the variants of a sample and compares them with the first, and the halves of the first with each
// other.
func (s *sample) rebuild(t *testing.T) (list []outcome, mistaken outcome) {
	t.Helper()
	if s.lab {
		root := corpus.Path(t, "lab", "src")
		for i := range s.sources {
			s.sources[i] = filepath.Join(root, s.sources[i])
		}
	}
	list = make([]outcome, len(variants))
	var base map[string]blame.Signature
	libraries := map[string][]string{}
	for i, v := range variants {
		if libraries[v.target] == nil {
			libraries[v.target] = s.compileLibraries(t, v.target)
		}
		built := s.build(t, v, libraries[v.target]).signatures(t, s.entries, s.allocating)
		if base == nil {
			base, mistaken = built, halves(built)
		}
		var lost []string
		list[i], lost = compareBuilds(base, built)
		t.Logf("%s: %s; %d built", v.name, list[i], len(built))
		for _, l := range lost {
			t.Logf("lost: %s", l)
		}
	}
	return list, mistaken
}

// compareBuilds counts the signatures of the base that a build has too, and those that it has with one frame more or
// less.
func compareBuilds(base, built map[string]blame.Signature) (o outcome, lost []string) {
	o.base = len(base)
	var gone, come []blame.Signature
	for id, s := range base {
		if _, ok := built[id]; ok {
			o.exact++
			continue
		}
		gone = append(gone, s)
	}
	for id, s := range built {
		if _, ok := base[id]; !ok {
			come = append(come, s)
		}
	}
	found := map[int]bool{}
	for _, d := range blame.FindReplacements(gone, come) {
		found[d.From] = found[d.From] || d.FrameOmitted
	}
	for i, s := range gone {
		if found[i] {
			o.drifted++
			continue
		}
		lost = append(lost, strings.Join(s.Frames, " < "))
	}
	slices.Sort(lost)
	return o, lost
}

// compileLibraries makes the objects that all variants link.
func (s *sample) compileLibraries(t *testing.T, target string) []string {
	t.Helper()
	dir := t.TempDir()
	var objects []string
	for _, source := range s.libraries {
		objects = append(objects, s.compile(t, dir, source, variant{flags: []string{"-O1"}, target: target}))
	}
	return objects
}

// build compiles and links a variant.
func (s *sample) build(t *testing.T, v variant, objects []string) *builtBinary {
	t.Helper()
	dir := t.TempDir()
	for _, source := range s.sources {
		objects = append(objects[:len(objects):len(objects)], s.compile(t, dir, source, v))
	}
	run(t, dir, "lld-link",
		append([]string{"/debug", "/entry:mainCRTStartup", "/nodefaultlib", "/subsystem:console", "/out:" + s.name + ".exe",
			"/pdb:" + s.name + ".pdb"}, objects...)...)
	return openBinary(t, dir, s.name)
}

// compile makes an object of a source, whose headers lie beside it.
func (s *sample) compile(t *testing.T, dir, source string, v variant) string {
	t.Helper()
	headers, err := filepath.Glob(filepath.Join(filepath.Dir(source), "*.h"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(headers, source) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := local(string(content))
		if file == source && v.change != nil {
			text = v.change(text)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := filepath.Join(dir, filepath.Base(source))
	args := append([]string{"--target=" + cmp.Or(v.target, "x86_64") + "-pc-windows-msvc", "-gcodeview", "-g",
		"-fno-exceptions", "-fno-rtti", "-std=c++17", "-ffreestanding", "-w", "-c", at, "-o", at + ".obj"}, v.flags...)
	for _, d := range s.defines {
		args = append(args, "-D"+d)
	}
	run(t, dir, "clang", args...)
	return at + ".obj"
}

// local makes a source link statically the functions that it imports.
func local(source string) string {
	return strings.NewReplacer("__declspec(dllimport)", "", "__declspec(dllexport)", "").Replace(source)
}

func run(t *testing.T, dir, tool string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), tool, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", tool, err, out)
	}
}

// shift moves every line and gives lambdas other numbers.
func shift(source string) string {
	source = strings.ReplaceAll(source, "//@function", "// one line\n// and another\n//@function")
	source = strings.ReplaceAll(source, "//@lambda", "auto added = [] { return int(input); };\n\tinput = added();")
	return "// a new first line\n\n" + source
}

var movable = regexp.MustCompile(`(?s)//@function\n.*?//@end\n`)

// reorder reverses the functions in a region where their order is free.
func reorder(source string) string {
	regions := strings.Split(source, "//@region\n")
	for i, region := range regions {
		blocks := movable.FindAllString(region, -1)
		regions[i] = movable.ReplaceAllStringFunc(region, func(string) string {
			last := blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			return last
		})
	}
	return strings.Join(regions, "//@region\n")
}
