package blame_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"heapdrift/internal/analysis/blame"
)

// A Classifier, which decides once for many addresses, gives the class that each address gets by itself.
func TestClassifier(t *testing.T) {
	rules, err := blame.ParseRules("path:**/*.h -> plumbing\nfunction:Pool::* -> plumbing\nmodule:engine.dll -> owner=graphics\n")
	if err != nil {
		t.Fatal(err)
	}
	modules := []*blame.Module{
		nil, {Name: "app", Program: true, Build: "1"}, {Name: "ntdll", Path: `C:\Windows\System32\ntdll.dll`, Build: "2"},
		{Name: "engine", Path: `C:\app\engine.dll`, Own: true, Private: true, Build: "3"},
		{Name: "ucrtbase", Path: `C:\Windows\System32\ucrtbase.dll`},
	}
	functions := []string{"", "???", "Pool::Take", "malloc", "main", "app::<lambda_1234>::operator()",
		"<lambda_5678>::operator()", "RtlUserThreadStart"}
	files := []string{"", `C:\src\pool.h`, `C:\src\main.cpp`}
	r := rand.New(rand.NewPCG(1, 2))
	for _, of := range []*blame.Rules{rules, blame.DefaultRules()} {
		c := of.Classifier()
		for range 5000 {
			f := blame.Frame{Module: modules[r.IntN(len(modules))], Function: functions[r.IntN(len(functions))],
				File: files[r.IntN(len(files))], Offset: r.Uint64N(1 << 20), Kernel: r.IntN(8) == 0}
			if got, want := c.Class(&f), of.Class(&f); !reflect.DeepEqual(got, want) {
				t.Fatalf("%+v: %+v, want %+v", f, got, want)
			}
		}
	}
}
