package symsrv_test

import (
	"errors"
	"testing"

	"heapdrift/internal/symbols/symsrv"
)

func TestIdentity(t *testing.T) {
	for _, c := range []struct {
		id   symsrv.Identity
		path string // empty: refused
	}{
		{symsrv.Identity{Name: "app.pdb", DebugID: key}, "app.pdb/" + key + "/app.pdb"},
		{symsrv.Identity{Name: `D:\build\..\app.pdb`, DebugID: key}, "app.pdb/" + key + "/app.pdb"},
		{symsrv.Identity{Name: "/home/me/app.pdb", DebugID: key}, "app.pdb/" + key + "/app.pdb"},
		{symsrv.Identity{Name: "app.pdb", DebugID: "{A6259241-8D78-0749-4C4C-44205044422E}-1f"},
			"app.pdb/" + guid + "1f/app.pdb"},
		{symsrv.Identity{Name: "x.pdb", DebugID: guid + "FFFFFFFF"}, "x.pdb/" + guid + "FFFFFFFF/x.pdb"}, // portable
		{symsrv.Identity{Name: "old.pdb", DebugID: "3B7D84751"}, "old.pdb/3B7D84751/old.pdb"},            // PDB 2.00
		{symsrv.Identity{Name: "a.exe", Timestamp: 0x63E6C7F7, SizeOfImage: 0x8000}, "a.exe/63E6C7F78000/a.exe"},
		{symsrv.Identity{Name: "a.dll", Timestamp: 0xAB, SizeOfImage: 0x1F000}, "a.dll/000000AB1f000/a.dll"},
		{symsrv.Identity{Name: "with space é.pdb", DebugID: key}, "with space é.pdb/" + key + "/with space é.pdb"},

		{symsrv.Identity{DebugID: key}, ""},
		{symsrv.Identity{Name: `C:\dir\`, DebugID: key}, ""},
		{symsrv.Identity{Name: "..", DebugID: key}, ""},
		{symsrv.Identity{Name: `a\..`, DebugID: key}, ""},
		{symsrv.Identity{Name: "a\x00.pdb", DebugID: key}, ""},
		{symsrv.Identity{Name: "a:b.pdb", DebugID: key}, ""},
		{symsrv.Identity{Name: ".heapdrift", DebugID: key}, ""},
		{symsrv.Identity{Name: "\xff.pdb", DebugID: key}, ""},
		{symsrv.Identity{Name: "app.pdb", DebugID: guid}, ""},
		{symsrv.Identity{Name: "app.pdb", DebugID: "../../etc/passwd"}, ""},
		{symsrv.Identity{Name: "app.pdb", DebugID: guid + "123456789"}, ""},
		{symsrv.Identity{Name: "a.exe", Timestamp: 1}, ""},
	} {
		_, _, err := parse(t, "", symsrv.Options{}).Find(t.Context(), c.id)
		var e *symsrv.Error
		switch {
		case !errors.As(err, &e):
			t.Errorf("%+v: %v", c.id, err)
		case c.path == "" && e.Code != symsrv.CodeBadIdentity:
			t.Errorf("%+v was looked for", c.id)
		case c.path != "" && (e.Code != symsrv.CodeNotFound || c.id.Path() != c.path):
			t.Errorf("%+v is looked for at %s, %v", c.id, c.id.Path(), err)
		}
	}
}

func TestParseRequest(t *testing.T) {
	pdb := symsrv.Identity{Name: "app.pdb", DebugID: key}
	exe := symsrv.Identity{Name: "app.exe", Timestamp: 0x63E6C7F7, SizeOfImage: 0x8000}
	for _, c := range []struct {
		path string
		want symsrv.Request
		ok   bool
	}{
		{"/app.pdb/" + key + "/app.pdb", symsrv.Request{Identity: pdb, Form: symsrv.FormPlain}, true},
		{"app.pdb/" + key + "/APP.PDB", symsrv.Request{Identity: pdb, Form: symsrv.FormPlain}, true},
		{"app.pdb/" + key + "/app.pd_", symsrv.Request{Identity: pdb, Form: symsrv.FormCompressed}, true},
		{"app.pdb/" + key + "/file.ptr", symsrv.Request{Identity: pdb, Form: symsrv.FormPointer}, true},
		{"app.pdb/" + key + "/msfz0/app.pdb", symsrv.Request{Identity: pdb, Form: symsrv.FormMSFZ}, true},
		{"ap/app.pdb/" + key + "/app.pdb", symsrv.Request{Identity: pdb, Form: symsrv.FormPlain, TwoTier: true}, true},
		{"ap/app.pdb/" + key + "/msfz0/app.pdb", symsrv.Request{Identity: pdb, Form: symsrv.FormMSFZ, TwoTier: true}, true},
		{"app.exe/63E6C7F78000/app.exe", symsrv.Request{Identity: exe, Form: symsrv.FormPlain}, true},
		{"app.exe/63e6c7f78000/app.ex_", symsrv.Request{Identity: exe, Form: symsrv.FormCompressed}, true},
		{"old.pdb/3B7D84751/old.pdb", symsrv.Request{Identity: symsrv.Identity{Name: "old.pdb", DebugID: "3B7D84751"},
			Form: symsrv.FormPlain}, true},
		{path: "index2.txt"}, {path: ""}, {path: "/"}, {path: "//"}, {path: "app.pdb/" + key},
		{path: "app.pdb/" + key + "/other.pdb"},
		{path: "app.pdb/" + key + "/msfz0/app.pd_"},
		{path: "app.pdb/" + key + "/msfz0"},
		{path: "xx/app.pdb/" + key + "/app.pdb"},
		{path: "../" + key + "/.."},
		{path: "app.pdb/../app.pdb"},
		{path: "app.exe/63E6C7F70/app.exe"},
		{path: `a\b.pdb/` + key + `/a\b.pdb`},
	} {
		got, ok := symsrv.ParseRequest(c.path)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %+v %v, not %+v", c.path, got, ok, c.want)
		}
	}
	for name, want := range map[string]string{"app.pdb": "app.pd_", "é": "_", "": ""} {
		if got := symsrv.CompressedName(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
