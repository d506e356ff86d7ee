package exitlog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/exitlog"
)

// crtList is a list of the debug CRT. Each block is "place address size", place being file(line), or - for none.
func crtList(blocks ...string) string {
	var b strings.Builder
	b.WriteString("Detected memory leaks!\nDumping objects ->\n")
	for i, block := range blocks {
		var place, address, size string
		fmt.Sscan(block, &place, &address, &size) //nolint:errcheck // the test's own text
		if place != "-" {
			b.WriteString(place + " : ")
		}
		fmt.Fprintf(&b, "{%d} normal block at %s, %s bytes long.\n Data: <                > CD CD CD CD CD CD CD CD \n", 150+i, address, size)
	}
	return b.String() + "Object dump complete.\n"
}

// vldList is a list of Visual Leak Detector. Each block is "place address size function"; one without a place has no
// symbols.
func vldList(blocks ...string) string {
	var b strings.Builder
	b.WriteString("WARNING: Visual Leak Detector detected memory leaks!\n")
	for i, block := range blocks {
		var place, address, size, function string
		fmt.Sscan(block, &place, &address, &size, &function) //nolint:errcheck // the test's own text
		fmt.Fprintf(&b, "---------- Block %d at %s: %s bytes ----------\n  Leak Hash: 0x7B6C0000, Count: 1, Total %s bytes\n  Call Stack (TID 7):\n", 9+i, address, size, size)
		b.WriteString("    ucrtbased.dll!malloc()\n")
		if place == "-" {
			fmt.Fprintf(&b, "    app.exe!%s()\n", function)
		} else {
			fmt.Fprintf(&b, "    %s: app.exe!%s() + 0xF bytes\n", strings.Replace(place, "(", " (", 1), function)
		}
		b.WriteString("  Data:\n    CD CD CD CD                                                  ........ ........\n\n\n")
	}
	return b.String() + "Visual Leak Detector detected 9 memory leaks (56 bytes).\nVisual Leak Detector is now exiting.\n"
}

// A block that both tools list at one address with one size is one block. With its file, one of its calls is in it.
func TestSameBlocks(t *testing.T) {
	const a, b = `c:\src\a.cpp(10)`, `c:\src\b.cpp(20)`
	for name, test := range map[string]struct {
		log  string
		want string // by site of the debug CRT: the functions of the stacks that it is given
	}{
		"with a file":            {crtList(a+" 0x00A1B2C0 64") + vldList(`c:\src\a.cpp(11) 0x00A1B2C0 64 Add`), "Add"},
		"the other list first":   {vldList(a+" 0xA1B2C0 64 Add") + crtList(a+" 0x00A1B2C0 64"), "Add"},
		"a file in another case": {crtList(a+" 0x00A1B2C0 64") + vldList(`C:/Src/A.CPP(10) 0x00A1B2C0 64 Add`), "Add"},
		"without a file":         {crtList("- 0x00A1B2C0 64") + vldList(a+" 0x00A1B2C0 64 Add"), "Add"},
		"without symbols":        {crtList(a+" 0x00A1B2C0 64") + vldList("- 0x00A1B2C0 64 Add"), "Add"},
		"another size":           {crtList(a+" 0x00A1B2C0 64") + vldList(a+" 0x00A1B2C0 65 Add"), ""},
		"another address":        {crtList(a+" 0x00A1B2C0 64") + vldList(a+" 0x00A1B2C4 64 Add"), ""},
		"another file":           {crtList(a+" 0x00A1B2C0 64") + vldList(b+" 0x00A1B2C0 64 Add"), ""},
		"two blocks, two lists": {crtList(a+" 0xA0 64", b+" 0xB0 32") + vldList(b+" 0xB0 32 Sub", a+" 0xA0 64 Add", a+" 0xC0 64 Third"),
			"Add|Sub"},
		"one line, two callers":   {crtList(a+" 0xA0 64", a+" 0xB0 64") + vldList(a+" 0xA0 64 Add", a+" 0xB0 64 Sub"), "Add Sub"},
		"as many that disagree":   {crtList(a+" 0xA0 64", b+" 0xB0 32") + vldList(a+" 0xA0 64 Add", b+" 0xB0 33 Sub"), "Add|"},
		"more that disagree":      {crtList(a+" 0xA0 64", b+" 0xB0 32", b+" 0xC0 8") + vldList(a+" 0xA0 64 Add", b+" 0xB0 33 Sub", b+" 0xC0 9 Sub"), "|"},
		"two tests of ctest":      {"    Start 1: one\n" + crtList(a+" 0xA0 64") + "    Start 2: two\n" + vldList(a+" 0xA0 64 Add"), ""},
		"two commands":            {"Test command: one.exe\n" + crtList(a+" 0xA0 64") + "Test command: two.exe\n" + vldList(a+" 0xA0 64 Add"), ""},
		"each command its own":    {"Test command: one.exe\n" + crtList(a+" 0xA0 64") + vldList(a+" 0xA0 64 Add") + "Test command: two.exe\n" + crtList(b+" 0xA0 8") + vldList(b+" 0xA0 8 Sub"), "Add|Sub"},
		"two processes by prefix": {prefixed("12: ", crtList(a+" 0xA0 64")) + prefixed("13: ", vldList(a+" 0xA0 64 Add")), ""},
	} {
		captures, err := exitlog.Read(t.Context(), strings.NewReader(test.log))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, c := range captures {
			if (c.Lines != nil) != (c.Kind == exitlog.KindCRT) {
				t.Errorf("%s: %s has lines %v", name, c.Kind, c.Lines)
			}
			for i := range c.Sites {
				if c.Lines == nil {
					continue
				}
				var functions []string
				for _, stack := range c.Lines[i].SameBlocks {
					ids := c.Stacks.Stack(stack)
					functions = append(functions, c.Stacks.Text(c.Stacks.Frame(ids[len(ids)-1])).Function)
				}
				got = append(got, strings.Join(functions, " "))
			}
		}
		if strings.Join(got, "|") != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func prefixed(prefix, text string) string {
	return prefix + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+prefix) + "\n"
}

// Very many blocks at one address are not compared, and do not keep blocks of other addresses apart.
func TestManyBlocksAtOneAddress(t *testing.T) {
	const a, b = `c:\src\a.cpp(10)`, `c:\src\b.cpp(20)`
	for _, test := range []struct{ crt, vld, same int }{
		{7, 1, 1}, {8, 1, 1}, {9, 1, 0}, {1, 7, 1}, {1, 8, 1}, {1, 9, 0}, {8, 8, 1}, {9, 9, 0}, {50_000, 50_000, 0},
	} {
		crt := append(slices.Repeat([]string{a + " 0xA0 64"}, test.crt), b+" 0xB0 8", b+" 0xC0 8")
		vld := append(slices.Repeat([]string{a + " 0xA0 64 Add"}, test.vld), b+" 0xB0 8 Sub", b+" 0xC0 8 Sub")
		captures, err := exitlog.Read(t.Context(), strings.NewReader(crtList(crt...)+vldList(vld...)))
		if err != nil {
			t.Fatal(err)
		}
		isCRT := func(c *capture.Capture) bool { return c.Kind == exitlog.KindCRT }
		lines := captures[slices.IndexFunc(captures, isCRT)].Lines
		if len(lines) != 2 || len(lines[0].SameBlocks) != test.same || len(lines[1].SameBlocks) != 1 {
			t.Errorf("%d and %d: %+v, want %d and 1", test.crt, test.vld, lines, test.same)
		}
	}
}

// endsAfter is a context that ends after some looks at it.
type endsAfter struct {
	context.Context
	looks *int
}

func (c endsAfter) Err() error {
	if *c.looks == 0 {
		return context.Canceled
	}
	*c.looks--
	return nil
}

// Where the context ends while blocks are compared, nothing is joined, and the error says so.
func TestContextEndsAtSameBlocks(t *testing.T) {
	const a = `c:\src\a.cpp(10)`
	ended, cancel := context.WithCancel(t.Context())
	cancel() // it has a cause
	log, apart := crtList(a+" 0xA0 64")+vldList(a+" 0xA0 64 Add"), 0
	for looks := 0; ; looks++ {
		captures, err := exitlog.Read(endsAfter{ended, new(looks)}, strings.NewReader(log))
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) || looks > 100 {
			t.Fatalf("after %d looks: %v", looks, err)
		}
		if len(captures) == 2 && captures[0].Lines[0].SameBlocks == nil {
			apart++
		}
	}
	if apart == 0 {
		t.Error("the comparison of blocks does not look at the context")
	}
}

// A site of the debug CRT is given eight stacks at most.
func TestManyCallersOfALine(t *testing.T) {
	var crt, vld []string
	for i := range 9 {
		crt = append(crt, fmt.Sprintf(`c:\src\a.cpp(10) 0x%X0 64`, 0xA+i))
		vld = append(vld, fmt.Sprintf(`c:\src\a.cpp(10) 0x%X0 64 Caller%d`, 0xA+i, i))
	}
	captures, err := exitlog.Read(t.Context(), strings.NewReader(crtList(crt...)+vldList(vld...)))
	if err != nil || len(captures[0].Sites) != 1 || len(captures[0].Lines[0].SameBlocks) != 8 {
		t.Errorf("%v\n%s", err, render(captures, nil))
	}
}
