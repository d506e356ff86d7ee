package kit_test

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"heapdrift/web/pages/pagestest"
)

func get(t *testing.T, url string) (int, []byte) {
	t.Helper()
	r := pagestest.Must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))
	answer := pagestest.Must[*http.Response](t)(http.DefaultClient.Do(r))
	defer answer.Body.Close()
	return answer.StatusCode, pagestest.Must[[]byte](t)(io.ReadAll(answer.Body))
}

// The page is filled in: the lines of record and kit, the scripts, and the archive of the same files.
func TestKit(t *testing.T) {
	s, _ := pagestest.OpenShop(t)
	pagestest.Has(t, s.Page("/projects/shopd/kit"), "<h1>Record a process</h1>", "Snapshots with UMDH", "VirtualAlloc trace with wpr")
	query := "?image=shopd.exe&evidence=umdh&scenario=soak&snapshots=7&build=4813&every=10m"
	page := s.Page("/projects/shopd/kit" + query)
	pagestest.Has(t, page, `value="shopd.exe"`, `name="build" value="4813"`, `name="every" value="10m0s"`,
		"heapdrift record --image shopd.exe --evidence heap --snapshots 7 --every 10m --push "+s.URL+" --project shopd --scenario soak --build 4813 --again",
		`/projects/shopd/kit.zip?build=4813&amp;every=10m0s&amp;evidence=umdh&amp;image=shopd.exe&amp;scenario=soak&amp;snapshots=7`, "1-enable.cmd", "4-upload.cmd",
		"heapdrift kit --image shopd.exe --evidence umdh --url "+s.URL+" --project shopd --scenario soak")
	status, body := get(t, s.URL+"/projects/shopd/kit.zip"+query)
	archive, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if status != http.StatusOK || err != nil {
		t.Fatalf("archive: %d, %v", status, err)
	}
	var names []string
	for _, f := range archive.File {
		names = append(names, f.Name)
		if f.Name == "kit-umdh/4-upload.cmd" {
			content := pagestest.Must[io.ReadCloser](t)(f.Open())
			text := pagestest.Must[[]byte](t)(io.ReadAll(content))
			_ = content.Close()
			if want := s.URL + "/api/v1/evidence?project=shopd&scenario=soak&"; !strings.Contains(string(text), want) {
				t.Errorf("%s has no %s", f.Name, want)
			}
		}
	}
	if want := "kit-umdh/1-enable.cmd kit-umdh/2-capture.cmd kit-umdh/3-clean-up.cmd kit-umdh/4-upload.cmd kit-umdh/kit.ps1 kit-umdh/README.txt"; strings.Join(names, " ") != want {
		t.Errorf("the archive has %q", names)
	}
}

// What a kit cannot take is said at its field, and there is no kit of a project that does not exist.
func TestRefused(t *testing.T) {
	s, _ := pagestest.OpenShop(t)
	pagestest.Has(t, s.Page("/projects/shopd/kit?image=shopd"), "is no name of a program, such as app.exe")
	pagestest.Has(t, s.Page("/projects/shopd/kit?image=a.exe&snapshots=x"), "is not between 1 and 99")
	for path, want := range map[string]int{"/projects/shopd/kit.zip?image=a%22.exe": http.StatusUnprocessableEntity,
		"/projects/shopd/kit?every=soon": http.StatusUnprocessableEntity,
		"/projects/none/kit?image=a.exe": http.StatusNotFound, "/projects/none/kit.zip?image=a.exe": http.StatusNotFound} {
		if status, body := get(t, s.URL+path); status != want {
			t.Errorf("%s: %d, want %d: %.200s", path, status, want, body)
		}
	}
}
