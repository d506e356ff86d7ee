package suppressions_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/golden"
	"heapdrift/internal/suppressions"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, text := range golden.Inputs(t, "testdata/*.supp") {
		list, rejected := suppressions.Parse(string(text))
		var b strings.Builder
		for _, s := range list {
			fmt.Fprintf(&b, "line %d %s %q %q %s\n", s.Line, s.Form, s.Name, s.Pattern, frames(s.Frames))
			for _, form := range suppressions.Forms {
				written, reason := suppressions.Write(form, &s)
				if reason != "" {
					written = "not written: " + reason + "\n"
				}
				fmt.Fprintf(&b, "\t%s\n", strings.ReplaceAll(strings.TrimSuffix(written, "\n"), "\n", "\n\t"))
			}
		}
		for _, r := range rejected {
			fmt.Fprintf(&b, "rejected line %d %q: %s\n", r.Line, r.Text, r.Reason)
		}
		golden.Check(t, strings.TrimSuffix(name, ".supp")+".golden", b.String())
	}
}

func frames(list []suppressions.Frame) string {
	var b strings.Builder
	for i, f := range list {
		if i > 0 {
			b.WriteString(" < ")
		}
		fmt.Fprintf(&b, "[%s|%s", f.Module, f.Function)
		if f.Many {
			b.WriteString("|many")
		}
		b.WriteString("]")
	}
	return b.String()
}

// Each line of a file that says something is in an entry that is taken or in one that is rejected.
func TestNothingIsDropped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]int{
		"":                           {0, 0},
		"# only\n\n# comments":       {0, 0},
		"leak:a\nleak:b":             {2, 0},
		"leak:a\nnonsense\nleak:b":   {2, 1},
		"app!f":                      {0, 1}, // a frame outside of an entry
		"name=x":                     {0, 1},
		"LEAK\napp!f\nleak:g":        {2, 0},
		"LEAK\napp!f\nnonsense":      {1, 1},
		"LEAK":                       {0, 1},
		"}":                          {0, 1},
		"{\nx\nMemcheck:Leak\nfun:f": {0, 1},
		"{\nx\nMemcheck:Leak\nfun:f\n{\ny\nMemcheck:Leak\nfun:g\n}":    {1, 1},
		"{\nx\nMemcheck:Leak\nfun:f\n}\n{\ny\nMemcheck:Leak\nfun:g\n}": {2, 0},
		"LEAK\n" + strings.Repeat("a!f\n", 63):                         {1, 0},
		"LEAK\n" + strings.Repeat("a!f\n", 64):                         {0, 1},
		"LEAK\n*!malloc\n" + strings.Repeat("a!f\n", 63):               {1, 0},
		"LEAK\n" + strings.Repeat("a!f\n", 5000):                       {0, 1},
		"leak:" + strings.Repeat("x", 4096):                            {1, 0},
		"leak:" + strings.Repeat("x", 4097):                            {0, 1},
	} {
		list, rejected := suppressions.Parse(text)
		if len(list) != want[0] || len(rejected) != want[1] {
			t.Errorf("%.60q: %d taken, %+v, want %v", text, len(list), rejected, want)
		}
	}
}

func TestMatchLeakKinds(t *testing.T) {
	t.Parallel()
	for kinds, taken := range map[string]bool{
		"definite": true, "all": true, "possible, definite": true, "indirect": false, "possible": false, "reachable": false, "none": false,
	} {
		list, _ := suppressions.Parse("{\nx\nMemcheck:Leak\nmatch-leak-kinds: " + kinds + "\nfun:f\n}")
		if (len(list) == 1) != taken {
			t.Errorf("%s: %d", kinds, len(list))
		}
	}
}

// The mangled names are those that the Itanium C++ ABI gives, as compilers print them.
func TestMangledNames(t *testing.T) {
	t.Parallel()
	for linker, want := range map[string]string{
		"_ZN5Cache3PutEi": "Cache::Put", "_ZNK5Cache3GetEv": "Cache::Get", "_ZN5CacheC1Ev": "Cache::Cache", "_ZN5CacheD0Ev": "Cache::~Cache",
		"_Z4initv": "init", "_ZL4initv": "init", "_Z4init*": "init", "_ZN5Cache*": "Cache::*", "_ZN5Cache3Put*": "Cache::Put*",
		"_ZN*5Cache3PutE*": "*Cache::Put", "_ZN12_GLOBAL__N_11fEv": "*anonymous*::f", "main": "main", "g_*": "g_*", "_ZN5CacheC?E*": "Cache::Cache",
		"_ZN5CacheC2*": "Cache::Cache", "_ZN1aL1bEv": "a::b",
		"_ZNSt6vectorIiE4sizeEv": "", "_ZN5CacheaSERKS_": "", "_Z": "", "_ZN": "", "_ZNE": "", "_ZN9CacheE": "", "_Z0": "", "_Z3a-b": "", "_ZN5Cache": "",
		"_Z*Put*": "", "_ZN5Cache3PutX": "", "_ZdlPv": "",
	} {
		list, rejected := suppressions.Parse("{\nx\nMemcheck:Leak\nfun:malloc\nfun:" + linker + "\n}")
		switch {
		case want == "" && len(rejected) != 1:
			t.Errorf("%s: %+v", linker, list)
		case want != "" && (len(list) != 1 || list[0].Frames[0].Function != want):
			t.Errorf("%s: %+v %+v, want %s", linker, list, rejected, want)
		}
	}
}

// What is written is read as it was: in Valgrind's form without modules, in LeakSanitizer's as the first function.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 1))
	for range 2000 {
		s := suppressions.Suppression{Name: "sig1:" + word(random), Frames: randomFrames(random)}
		text, reason := suppressions.Write(suppressions.DrMemory, &s)
		list, rejected := suppressions.Parse(text)
		if reason != "" || len(list) != 1 || len(rejected) != 0 || list[0].Name != s.Name || !slices.Equal(list[0].Frames, orAny(s.Frames)) {
			t.Fatalf("%s: %q %+v\n%s%+v", frames(s.Frames), reason, rejected, text, list)
		}
		text, reason = suppressions.Write(suppressions.Valgrind, &s)
		list, rejected = suppressions.Parse(text)
		if reason != "" || len(list) == 0 || len(rejected) != 0 {
			t.Fatalf("%s: %q %+v\n%s", frames(s.Frames), reason, rejected, text)
		}
		for _, got := range list {
			if got.Name != s.Name || !slices.EqualFunc(got.Frames, s.Frames, sameFunction) {
				t.Fatalf("%s\n%s%s", frames(s.Frames), text, frames(got.Frames))
			}
		}
		text, reason = suppressions.Write(suppressions.LSan, &s)
		list, rejected = suppressions.Parse(text)
		first := s.Frames[slices.IndexFunc(s.Frames, func(f suppressions.Frame) bool { return f.Function != "" })]
		if reason != "" || len(list) != 1 || len(rejected) != 0 || list[0].Pattern != "*"+first.Function+"*" {
			t.Fatalf("%s: %q %+v\n%s", frames(s.Frames), reason, rejected, text)
		}
	}
	for _, pattern := range []string{"leak:a", "leak:^a", "leak:a$", "leak:^a*b$"} {
		list, _ := suppressions.Parse(pattern)
		if text, reason := suppressions.Write(suppressions.LSan, &list[0]); text != pattern+"\n" {
			t.Errorf("%s: %q %s", pattern, text, reason)
		}
	}
}

// sameFunction compares what Valgrind's form has of frames: no modules, and scopes before the first may be any.
func sameFunction(got, want suppressions.Frame) bool {
	return got.Many == want.Many && strings.TrimPrefix(got.Function, "*") == want.Function
}

// orAny writes the module that Dr. Memory needs.
func orAny(list []suppressions.Frame) []suppressions.Frame {
	list = slices.Clone(list)
	for i, f := range list {
		if f.Function != "" && f.Module == "" {
			list[i].Module = "*"
		}
	}
	return list
}

// randomFrames are frames as the signature of a leak has them: functions with any number of frames between.
func randomFrames(random *rand.Rand) []suppressions.Frame {
	var list []suppressions.Frame
	for range 1 + random.IntN(5) {
		f := suppressions.Frame{Function: word(random)}
		for range random.IntN(3) {
			f.Function += "::" + word(random)
		}
		if random.IntN(2) == 0 {
			f.Module = word(random) + ".dll"
		}
		list = append(list, suppressions.Frame{Many: true}, f)
	}
	return list
}

func word(random *rand.Rand) string {
	b := []byte{'a' + byte(random.IntN(26))}
	for range 1 + random.IntN(12) {
		b = append(b, "abcXYZ_019"[random.IntN(10)])
	}
	return string(b)
}

// Whatever a file has, what is taken of it can be written and read again.
func FuzzParse(f *testing.F) {
	f.Add("leak:a*\nleak:^b$\nrace:x")
	f.Add("{\n x\n Memcheck:Leak\n match-leak-kinds: all\n fun:malloc\n fun:_ZN1a1bEv\n obj:/lib/x.so\n ...\n}")
	f.Add("LEAK\nname=n\n*!malloc\na.dll!f*\n...\nb!...\n*\n<c+0x12>\nPOSSIBLE LEAK\na!b")
	f.Add("{\n{\n}\n}")
	f.Fuzz(func(t *testing.T, text string) {
		list, rejected := suppressions.Parse(text)
		lines := strings.Count(text, "\n") + 1
		if len(list)+len(rejected) > lines {
			t.Fatalf("%d entries of %d lines", len(list)+len(rejected), lines)
		}
		for _, r := range rejected {
			if r.Line < 1 || r.Line > lines || r.Reason == "" {
				t.Fatalf("%+v", r)
			}
		}
		for _, s := range list {
			written, reason := suppressions.Write(s.Form, &s)
			if (written == "") == (reason == "") {
				t.Fatalf("%+v: %q %q", s, written, reason)
			}
			if again, _ := suppressions.Parse(written); reason == "" && len(again) == 0 {
				t.Fatalf("%+v is written as %q, which is not read", s, written)
			}
		}
	})
}
