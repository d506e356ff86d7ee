package symsrv_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/symbols/symsrv"
)

func TestParse(t *testing.T) {
	const msdl = "https://msdl.microsoft.com/download/symbols"
	for _, c := range []struct{ path, want string }{
		{``, ``},
		{`;; ;`, ``},
		{`/mnt/a; /mnt/b ;`, `/mnt/a;/mnt/b`},
		{`"C:\my symbols"`, `C:\my symbols`},
		{`srv*C:\a*\\b\c*https://host/x`, `srv*C:\a*\\b\c*https://host/x`},
		{`SRV*C:\a*https://host/x/`, `srv*C:\a*https://host/x`},
		{`symsrv*symsrv.dll*C:\a*https://host`, `srv*C:\a*https://host`},
		{`SymSrv*C:\dbg\SymSrv.dll*C:\a`, `srv*C:\a`},
		{`srv**https://host/x`, `srv**https://host/x`},
		{`srv*https://host/x`, `srv**https://host/x`}, // a server's files are kept in the default store
		{`srv*`, `srv**` + msdl},
		{`symsrv*symsrv.dll`, `srv**` + msdl},
		{`srv*C:\a*`, `srv*C:\a*`},
		{`srv*C:\a`, `srv*C:\a`},
		{`cache*;srv*https://host/x`, `cache*;srv*https://host/x`},
		{`CACHE*C:\c;\\b\c`, `cache*C:\c;\\b\c`},
		{`srv*C:\a*http://msdl.microsoft.com/download/symbols`, `srv*C:\a*` + msdl},
		{`srv*C:\a*http://MSDL.microsoft.com:80/download/symbols`, `srv*C:\a*https://MSDL.microsoft.com/download/symbols`},
		{`C:\a*\\b\c`, `srv*C:\a*\\b\c`}, // "chained UNC paths can be used without the SRV* prefix"
		{`srv*C:\a*https://me:secret@host/x?sig=secret`, `srv*C:\a*https://me:xxxxx@host/x`},
	} {
		p, err := symsrv.Parse(c.path, symsrv.Options{})
		if err != nil {
			t.Errorf("%q: %v", c.path, err)
		} else if got := p.String(); got != c.want {
			t.Errorf("%q was understood as %q, not %q", c.path, got, c.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		path, code string
		position   int
	}{
		{`/a;;sevr*C:\a`, symsrv.CodeUnknownKeyword, 2},
		{`srv`, symsrv.CodeUnknownKeyword, 1},
		{`*C:\a`, symsrv.CodeUnknownKeyword, 1},
		{`symsrv*other.dll*C:\a`, symsrv.CodeUnknownDLL, 1},
		{`symsrv*C:\a`, symsrv.CodeUnknownDLL, 1},
		{`https://host/x`, symsrv.CodeBareURL, 1},
		{`srv*https://host/x*C:\a`, symsrv.CodeURLNotLast, 1},
		{`srv*https://a*https://b`, symsrv.CodeURLNotLast, 1},
		{`srv*ftp://host/x`, symsrv.CodeBadURL, 1},
		{`srv*https:///x`, symsrv.CodeBadURL, 1},
		{`srv*https://me:secret@ho st/x`, symsrv.CodeBadURL, 1},
		{`cache*C:\a*C:\b`, symsrv.CodeBadCache, 1},
		{`cache*https://host`, symsrv.CodeBadCache, 1},
		{strings.Repeat("x", 40000), symsrv.CodeTooLong, 0},
	} {
		_, err := symsrv.Parse(c.path, symsrv.Options{})
		var e *symsrv.Error
		if !errors.As(err, &e) || e.Code != c.code || e.Position != c.position {
			t.Errorf("%.60q: %v, not %s at %d", c.path, err, c.code, c.position)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error tells the password", c.path)
		}
	}
}

func TestMappings(t *testing.T) {
	root := plant(t, map[string]string{
		"sym/app.pdb":            right,
		"deep/Private/x/app.pdb": right,
		"share/app.pdb":          right,
	})
	opt := symsrv.Options{Map: []symsrv.PathMapping{
		{Windows: `C:\Symbols`, Local: filepath.Join(root, "sym")},
		{Windows: `c:\symbols\PRIVATE\`, Local: filepath.Join(root, "deep", "Private")},
		{Windows: `\\server\share`, Local: filepath.Join(root, "share")},
	}}
	for _, c := range []struct{ path, want string }{
		{`C:\Symbols`, "sym/app.pdb"},
		{`c:/SYMBOLS/`, "sym/app.pdb"},
		{`C:\Symbols\private\X`, "deep/Private/x/app.pdb"}, // the longest mapping, and the rest in any case
		{`\\SERVER\Share`, "share/app.pdb"},
		{`C:\SymbolsOld`, ""},
		{`C:\Symbols\..\share`, ""},
		{`D:\Symbols`, ""},
	} {
		got, lines := find(t, parse(t, c.path, opt), app)
		want := ""
		if c.want != "" {
			want = filepath.Join(root, filepath.FromSlash(c.want))
		}
		if got != want {
			t.Errorf("%s found %q, not %q: %q", c.path, got, want, lines)
		}
		if c.want == "" && results(lines) != "failed" {
			t.Errorf("%s without a mapping: %q", c.path, lines)
		}
	}
	for text, ok := range map[string]bool{`C:\Symbols=/mnt/sym`: true, `C:\Symbols`: false, `=/x`: false, `C:=`: false} {
		if m, err := symsrv.ParseMapping(text); (err == nil) != ok ||
			ok && m != (symsrv.PathMapping{Windows: `C:\Symbols`, Local: "/mnt/sym"}) {
			t.Errorf("%s: %v %v", text, m, err)
		}
	}
}

func TestFromEnvironment(t *testing.T) {
	root := plant(t, map[string]string{"alt/app.pdb": right, "main/app.pdb": right, "home/sym/other.pdb/" +
		key + "/other.pdb": right})
	env := map[string]string{
		"_NT_ALT_SYMBOL_PATH": filepath.Join(root, "alt"),
		"_NT_SYMBOL_PATH":     filepath.Join(root, "main") + ";cache*",
		"DBGHELP_HOMEDIR":     `W:\home`,
		"_NT_SYMCACHE_PATH":   `cache*W:\SymCache`,
		"_NT_SYMBOL_PROXY":    "proxy.example:8080",
	}
	opt := symsrv.Options{Map: []symsrv.PathMapping{{Windows: `W:`, Local: root}}}
	p, err := symsrv.FromEnvironment(func(name string) string { return env[name] }, opt)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := find(t, p, app); got != filepath.Join(root, "alt", "app.pdb") {
		t.Errorf("the alternative path is not searched first: %q", got)
	}
	if got, lines := find(t, p, symsrv.Identity{Name: "other.pdb", DebugID: key}); got == "" {
		t.Errorf("the default store is not in DBGHELP_HOMEDIR: %q", lines)
	}
	if got := p.IndexCache(); got != filepath.Join(root, "SymCache") {
		t.Errorf("converted symbols lie in %q", got)
	}
	env["_NT_SYMBOL_PROXY"] = "http://%zz"
	var e *symsrv.Error
	if _, err := symsrv.FromEnvironment(func(name string) string { return env[name] }, opt); !errors.As(err, &e) ||
		e.Code != symsrv.CodeBadProxy {
		t.Errorf("a proxy that is none: %v", err)
	}
	empty, err := symsrv.FromEnvironment(func(string) string { return "" }, symsrv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := empty.Find(t.Context(), app); !errors.As(err, &e) || e.Code != symsrv.CodeNotFound ||
		!strings.Contains(err.Error(), "empty") {
		t.Errorf("an empty environment: %v", err)
	}
	if _, err := os.Stat(filepath.Join(root, "SymCache")); err == nil {
		t.Error("a folder was made that nobody asked for")
	}
}
