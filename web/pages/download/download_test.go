package download_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heapdrift/internal/needs"
	"heapdrift/web/guard"
	"heapdrift/web/pages/pagestest"
)

// ask sends a request without an account.
func ask(t *testing.T, url string, header ...string) (status int, body string, headers http.Header) {
	t.Helper()
	r := pagestest.Must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer := pagestest.Must[*http.Response](t)(http.DefaultClient.Do(r))
	defer answer.Body.Close()
	return answer.StatusCode, string(pagestest.Must[[]byte](t)(io.ReadAll(answer.Body))), answer.Header
}

// programs is a folder of a release of the version that the tests' server has.
func programs(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"VERSION": version, "windows-amd64/heapdrift.exe": "a program",
		"linux-amd64/heapdrift": "#!/bin/sh\necho fetched\n", "darwin-arm64/heapdrift": "a mac's"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Nobody needs an account to get the program; the file comes byte for byte, in parts, and not again to who has it.
func TestFiles(t *testing.T) {
	s := pagestest.OpenWithDownloads(t, guard.ByAccount, programs(t, "1.2.3"))
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte("a program")))
	url := s.URL + "/download/windows-amd64/heapdrift.exe"
	status, body, header := ask(t, url)
	if status != http.StatusOK || body != "a program" || header.Get("Content-Type") != "application/octet-stream" ||
		header.Get("ETag") != `"`+digest+`"` || header.Get("Content-Length") != "9" {
		t.Errorf("%d %q %v", status, body, header)
	}
	if status, body, _ := ask(t, url, "Range", "bytes=2-5"); status != http.StatusPartialContent || body != "prog" {
		t.Errorf("a part: %d %q", status, body)
	}
	if status, body, _ := ask(t, url, "If-None-Match", `"`+digest+`"`); status != http.StatusNotModified || body != "" {
		t.Errorf("again: %d %q", status, body)
	}
	if status, body, _ := ask(t, url+".sha256"); status != http.StatusOK || body != digest+"  heapdrift.exe\n" {
		t.Errorf("digest: %d %q", status, body)
	}
	for _, path := range []string{"windows-amd64/heapdrift", "linux-amd64/heapdrift.exe", "linux-arm64/heapdrift",
		"windows/heapdrift.exe", "windows-amd64/heapdrift.exe.sha256.sha256", "..%2Fwindows-amd64/heapdrift.exe",
		"windows-amd64/VERSION"} {
		if status, _, _ := ask(t, s.URL+"/download/"+path); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

// The page has each program with its digest, and a line for each shell with the server's address.
func TestPage(t *testing.T) {
	s := pagestest.OpenWithDownloads(t, guard.ByAccount, programs(t, "1.2.3"))
	_, page, _ := ask(t, s.URL+"/download", "Accept", "text/html")
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte("a program")))
	pagestest.Has(t, page, "<h1>Download heapdrift</h1>", "darwin-arm64", "linux-amd64", "windows-amd64", digest,
		"<h2>Windows</h2>", "Invoke-WebRequest -UseBasicParsing "+s.URL+"/download/windows-amd64/heapdrift.exe", digest,
		"certutil -hashfile", digest, "<h2>Linux</h2>", "curl -fSO "+s.URL+"/download/linux-amd64/heapdrift", "sha256sum",
		"<h2>macOS</h2>", "shasum -a 256", "heapdrift update --url "+s.URL)
}

// The line for sh does what it says, and leaves no program with another digest that could be run.
func TestShellLine(t *testing.T) {
	curl := needs.Program(t, "curl")
	s := pagestest.OpenWithDownloads(t, guard.ByAccount, programs(t, "1.2.3"))
	_, page, _ := ask(t, s.URL+"/download")
	found := regexp.MustCompile(`(?s)id="download-sh"[^>]*>(.*?)</pre>`).FindStringSubmatch(page)
	if found == nil {
		t.Fatal("no line for sh on the page")
	}
	text := strings.NewReplacer("&#39;", "'", "&amp;", "&").Replace(found[1])
	for change, want := range map[string]string{"": "fetched", "0": ""} {
		dir := t.TempDir()
		script := strings.Replace(text, "curl", curl, 1)
		if change != "" {
			script = regexp.MustCompile(`'[0-9a-f]{8}`).ReplaceAllString(script, "'00000000")
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", script+" && ./heapdrift")
		cmd.Dir = dir
		out, err := cmd.Output()
		if got := string(out); !strings.Contains(got, want) || (err == nil) != (want != "") {
			t.Errorf("digest changed %q: %q, %v", change, got, err)
		}
	}
}

// A server without programs of its version says which are there, and how they get there.
func TestMissing(t *testing.T) {
	s := pagestest.OpenWithDownloads(t, guard.ByAccount, programs(t, "1.0.0"))
	_, page, _ := ask(t, s.URL+"/download")
	pagestest.Has(t, page, "This server has no programs to download.", `programs of version &#34;1.0.0&#34;`,
		"dist/downloads", "HEAPDRIFT_DOWNLOADS")
	if status, _, _ := ask(t, s.URL+"/download/windows-amd64/heapdrift.exe"); status != http.StatusNotFound {
		t.Errorf("a program of another version: %d", status)
	}
}
