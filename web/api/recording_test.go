package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"html"
	"io"
	"net/http"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
)

// A recording whose settings stay changed is warned of, on the project's page and in the API, until it or the machine
// says that they are restored. The run's page says for how long they are on.
func TestRecordings(t *testing.T) {
	n := start(t)
	n.told(analysis.StatusInconclusive, "1", found(sigLeak, "Leak", analysis.ClassUnknown, 10))
	const path = "/api/v1/runs/1/recording"
	body := func(settings string) *strings.Reader {
		return strings.NewReader(`{"host": "PC1", "state": "failed", "process": {"image": "app.exe", "pid": 7},
			"began": "2026-03-01T12:00:00Z", "settings": {"changed": [{"name": "GlobalFlag"}]` + settings + `}}`)
	}
	warnings := func() []leaks.RecordingWarning {
		return decode[struct{ Recordings []leaks.RecordingWarning }](t,
			n.do("GET", "/api/v1/projects/shop", nil).want(t, 200, "")).Recordings
	}
	if list := warnings(); len(list) != 0 {
		t.Errorf("before: %+v", list)
	}
	n.do("PUT", path, body("")).want(t, 204, "")
	list := warnings()
	command := "heapdrift record --undo --push " + n.URL + ` --project "shop"`
	if len(list) != 1 || list[0].Kind != leaks.RecordingSettingsOn || list[0].RunID != 1 || list[0].Host != "PC1" ||
		list[0].Process != "app.exe" || list[0].Do != command {
		t.Fatalf("%+v", list)
	}
	page := html.UnescapeString(pageOf(t, n.URL+"/projects/shop"))
	if !strings.Contains(page, "Stack recording of app.exe is on on PC1") ||
		!strings.Contains(page, command) || !strings.Contains(page, "/runs/1") {
		t.Error("the page of the project lacks the warning")
	}
	n.do("PUT", path, body(`, "restored": "2026-03-01T13:00:00Z"`)).want(t, 204, "")
	if list := warnings(); len(list) != 0 {
		t.Errorf("restored by the recording: %+v", list)
	}
	n.do("PUT", path, body("")).want(t, 204, "")
	n.do("POST", "/api/v1/projects/shop/restored", strings.NewReader(`{"host": "PC2"}`)).want(t, 204, "")
	if list := warnings(); len(list) != 1 {
		t.Errorf("restored on another host: %+v", list)
	}
	n.do("POST", "/api/v1/projects/shop/restored", strings.NewReader(`{"host": "pc1"}`)).want(t, 204, "")
	if list := warnings(); len(list) != 0 {
		t.Errorf("restored on the host: %+v", list)
	}
	n.restoredByKey(t, path, body, warnings)
	n.do("PUT", "/api/v1/runs/99/recording", body("")).want(t, 404, "not-found")
	n.do("PUT", path, strings.NewReader(`{"host": "", "state": "ended", "process": {"image": "a"}, "began": "2026-03-01T12:00:00Z"}`)).
		want(t, 422, "invalid-host")
	n.do("POST", "/api/v1/projects/shop/restored", strings.NewReader(`{"host": ""}`)).want(t, 422, "invalid-host")
}

// The task of a watch has the key of its recordings, of which the server knows the digest, and no token.
func (n *node) restoredByKey(t *testing.T, path string, body func(string) *strings.Reader, warnings func() []leaks.RecordingWarning) {
	t.Helper()
	const key = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digest := sha256.Sum256([]byte(key))
	n.do("PUT", path, body(`, "set_at": "2026-02-28T12:00:00Z", "restore_key": "`+hex.EncodeToString(digest[:])+`"`)).want(t, 204, "")
	if list := warnings(); len(list) != 1 || list[0].Since.Day() != 28 {
		t.Errorf("since the settings were changed: %+v", list)
	}
	send := func(project, key, at string) *strings.Reader {
		return strings.NewReader(`{"project": "` + project + `", "key": "` + key + `"` + at + `}`)
	}
	const at = `, "restored_at": "2026-03-02T12:00:00Z"`
	n.do("POST", "/api/v1/restored", send("shop", hex.EncodeToString(digest[:]), at)).want(t, 204, "")
	n.do("POST", "/api/v1/restored", send("store", key, at)).want(t, 204, "")
	if list := warnings(); len(list) != 1 {
		t.Errorf("by the digest, or in another project: %+v", list)
	}
	n.do("POST", "/api/v1/restored", send("shop", key, at)).want(t, 204, "")
	if list := warnings(); len(list) != 0 {
		t.Errorf("by the key: %+v", list)
	}
	n.do("POST", "/api/v1/restored", send("shop", key[1:], at)).want(t, 422, "invalid-key")
	n.do("POST", "/api/v1/restored", send("", key, at)).want(t, 422, "invalid-project")
	n.do("POST", "/api/v1/restored", send("shop", key, "")).want(t, 422, "invalid-restored-at")
}

// pageOf is a page, which openapi.yaml does not describe.
func pageOf(t *testing.T, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, answer.Status, err)
	}
	return string(text)
}
