package symsrv_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/symbols/symsrv"
)

func TestServerLayouts(t *testing.T) {
	lower := strings.ToLower(key)
	zip := zipped(t, "app.pdb", right)
	mixed := symsrv.Identity{Name: "App.pdb", DebugID: key}
	for _, c := range []struct {
		name  string
		want  symsrv.Identity
		files map[string]string
		kept  string
		asked string // without index2.txt
	}{
		{"as written", app, map[string]string{in + "app.pdb": right}, in + "app.pdb", "/" + in + "app.pdb"},
		{"compressed", app, map[string]string{in + "app.pd_": zip}, in + "app.pdb", "/" + in + "app.pdb /" + in + "app.pd_"},
		{"compressed under the plain name", app, map[string]string{in + "app.pdb": zip},
			in + "app.pdb", "/" + in + "app.pdb"},
		{"MSFZ", app, map[string]string{in + "app.pdb": "Microsoft MSFZ Container\r\n\x1aALD\x00\x00 right"},
			in + "msfz0/app.pdb", "/" + in + "app.pdb"},
		{"key in lower case", app, map[string]string{"app.pdb/" + lower + "/app.pdb": right}, in + "app.pdb", ""},
		{"all in lower case", mixed, map[string]string{"app.pdb/" + lower + "/app.pdb": right},
			"App.pdb/" + key + "/App.pdb", ""},
		{"two tiers announced", app, map[string]string{"index2.txt": "", "ap/" + in + "app.pdb": right}, in + "app.pdb",
			"/ap/" + in + "app.pdb"},
		{"two tiers found by the way", app, map[string]string{"ap/" + in + "app.pdb": right}, in + "app.pdb", ""},
		{"image", symsrv.Identity{Name: "a.dll", Timestamp: 0xAB, SizeOfImage: 0x1F000},
			map[string]string{"a.dll/000000AB1f000/a.dl_": zipped(t, "a.dll", right)}, "a.dll/000000AB1f000/a.dll", ""},
		{"a name that must be escaped", symsrv.Identity{Name: "a #1%41+;.pdb", DebugID: key},
			map[string]string{"a #1%41+;.pdb/" + key + "/a #1%41+;.pdb": right}, "a #1%41+;.pdb/" + key + "/a #1%41+;.pdb", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := serve(t, c.files, nil)
			opt := online(t, w)
			found, lines := find(t, parse(t, "srv*"+w.URL, opt), c.want)
			asked := w.questions()
			if want := filepath.Join(opt.Cache, filepath.FromSlash(c.kept)); found != want {
				t.Fatalf("found %q, not %q: %q", found, want, lines)
			}
			if got := strings.Join(asked, " "); c.asked != "" && got != c.asked {
				t.Errorf("asked %s, not %s", got, c.asked)
			}
			if files := grown(t, opt.Cache); len(files) != 1 {
				t.Errorf("the store holds %q", files)
			}
			if again, lines := find(t, parse(t, "srv*"+w.URL, opt), c.want); again != found || len(w.questions()) != 0 {
				t.Errorf("found a second time at %q: %q", again, lines)
			}
		})
	}
}

// TestServerPointers follows what a server's file.ptr says, within bounds.
func TestServerPointers(t *testing.T) {
	root := plant(t, map[string]string{"drop/app.pdb": right, "secret/app.pdb": right})
	for content, want := range map[string]string{
		`PATH:\\builds\drop\app.pdb`:                  "not-found found",
		"PATH:" + root + "/secret/app.pdb":            "not-found refused",
		`PATH:\\builds\drop\..\secret\app.pdb`:        "not-found refused",
		"MSG: not to be had":                          "not-found message",
		"PATH:http://elsewhere.example/app.pdb?sig=1": "not-found offline",
	} {
		w := serve(t, map[string]string{in + "file.ptr": content}, nil)
		opt := online(t, w)
		opt.Map = []symsrv.PathMapping{{Windows: `\\builds\drop`, Local: filepath.Join(root, "drop")}}
		_, lines := find(t, parse(t, "srv*"+w.URL, opt), app)
		lines = slices.DeleteFunc(lines, func(line string) bool {
			return strings.HasPrefix(line, w.URL) && strings.Contains(line, "\tnot-found\t")
		})
		if got := results(lines); got != want {
			t.Errorf("%s: %s: %q", content, got, lines)
		}
		if strings.Contains(strings.Join(lines, ""), "sig") {
			t.Errorf("a signature is shown: %q", lines)
		}
	}
}

// TestPointerToServer follows a store's file.ptr to an allowed server.
func TestPointerToServer(t *testing.T) {
	w := serve(t, map[string]string{"drop/app.pd_": zipped(t, "app.pdb", right), "wrong/app.pdb": wrong}, nil)
	for path, want := range map[string]string{"/drop/app.pd_": "found", "/wrong/app.pdb": "mismatch",
		"/none/app.pdb": "not-found"} {
		root := plant(t, map[string]string{in + "file.ptr": "PATH:" + w.URL + path})
		if found, lines := find(t, parse(t, "srv*"+root, online(t, w)), app); results(lines) != want ||
			(found != "") != (want == "found") {
			t.Errorf("%s: %q", path, lines)
		}
	}
}
