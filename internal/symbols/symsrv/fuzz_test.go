package symsrv_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/symbols/symsrv"
)

func FuzzParse(f *testing.F) {
	for _, path := range []string{
		`srv*C:\Symbols*https://msdl.microsoft.com/download/symbols`, `symsrv*symsrv.dll**\\a\b*http://h:8080/x?s=1`,
		`cache*;cache*C:\c;\\server\share;.\sym`, `srv*;;"C:\with space"`, `C:\a*\\b*https://me:pw@h/`,
		`srv*https://[::1]/%2e%2e`,
	} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, text string) {
		opt := symsrv.Options{Map: []symsrv.PathMapping{{Windows: `C:`, Local: "/nowhere"}, {Windows: `\\`, Local: "/nowhere"}}}
		p, err := symsrv.Parse(text, opt)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "symsrv: ") {
				t.Errorf("%v", err)
			}
			return
		}
		// The printed form of a path parses to the same path, except for passwords.
		expanded := p.String()
		again, err := symsrv.Parse(expanded, opt)
		if len(expanded) > 32767 {
			return
		}
		if err != nil {
			t.Fatalf("%q was understood as %q: %v", text, expanded, err)
		}
		if again.String() != expanded {
			t.Errorf("%q, then %q", expanded, again.String())
		}
	})
}

func FuzzParseRequest(f *testing.F) {
	for _, path := range []string{"/" + in + "app.pdb", "ap/" + in + "app.pd_", in + "msfz0/app.pdb", in + "file.ptr",
		"a.exe/63E6C7F78000/a.ex_", "../" + key + "/.."} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		r, ok := symsrv.ParseRequest(path)
		if !ok {
			return
		}
		name, key := r.Identity.Name, r.Identity.Key()
		if name != filepath.Base(name) || strings.ContainsAny(name+key, `/\`) || name == ".." || key == "" {
			t.Errorf("%q gave %q, %q", path, name, key)
		}
		if again, ok := symsrv.ParseRequest(r.Identity.Path()); !ok || again.Identity != r.Identity {
			t.Errorf("%q gave %+v, and that %+v", path, r, again)
		}
	})
}

// FuzzPointer writes any text into a store's file.ptr, which must never lead out of the mapped directory.
func FuzzPointer(f *testing.F) {
	root := plant(f, map[string]string{"drop/app.pdb": right, "secret/app.pdb": "right, but secret"})
	for _, content := range []string{`PATH:\\b\drop\app.pdb`, `PATH:` + "/secret/app.pdb", `\\b\drop\..\secret\app.pdb`,
		"MSG: no", "\ufeffPATH:\"x\"", "PATH:http://h/app.pdb"} {
		f.Add(content)
	}
	store := f.TempDir()
	pointer := filepath.Join(store, filepath.FromSlash(in), "file.ptr")
	if err := os.MkdirAll(filepath.Dir(pointer), 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content string) {
		if err := os.WriteFile(pointer, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		p := parse(t, "srv*"+store,
			symsrv.Options{Map: []symsrv.PathMapping{{Windows: `\\b\drop`, Local: filepath.Join(root, "drop")}}})
		if found, _ := find(t, p, app); strings.Contains(found, "secret") && !strings.Contains(content, root) {
			t.Errorf("%q led to %s", content, found)
		}
	})
}
