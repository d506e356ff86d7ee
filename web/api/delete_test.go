package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/worker"
)

// A file can be downloaded as it was uploaded, whole or in part; the audit names who did so, once for a download in
// ranges.
func TestEvidenceDownload(t *testing.T) {
	n := start(t)
	content := umdhLog(500)
	a := decode[struct{ ID, Run int64 }](t,
		n.do("PUT", evidence("name", `lo"g é.txt`), strings.NewReader(content)).want(t, 201, ""))
	path := fmt.Sprintf("/api/v1/runs/%d/evidence/%d", a.Run, a.ID)
	got := n.do("GET", path, nil, "X-Heapdrift-Actor", "Ada").want(t, 200, "")
	sum := sha256.Sum256([]byte(content))
	if string(got.body) != content || got.Header.Get("Content-Type") != "application/octet-stream" ||
		!strings.HasPrefix(got.Header.Get("Content-Disposition"), "attachment; filename") ||
		!strings.Contains(got.Header.Get("Content-Security-Policy"), "sandbox") ||
		got.Header.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.Contains(got.Header.Get("ETag"), hex.EncodeToString(sum[:])) {
		t.Errorf("%v", got.Header)
	}
	if part := n.do("GET", path, nil, "Range", "bytes=10-19").want(t, 206, ""); string(part.body) != content[10:20] {
		t.Errorf("%q", part.body)
	}
	head, err := n.Client().Head(n.URL + path)
	if err != nil || head.StatusCode != http.StatusOK || head.Header.Get("Content-Disposition") == "" {
		t.Errorf("%+v %v", head, err)
	}
	_ = head.Body.Close()
	n.do("GET", path, nil, "If-None-Match", got.Header.Get("ETag")).want(t, 304, "")
	n.do("GET", fmt.Sprintf("/api/v1/runs/%d/evidence/%d", a.Run, a.ID+1), nil).want(t, 404, "not-found")
	n.do("GET", fmt.Sprintf("/api/v1/runs/%d/evidence/x", a.Run), nil).want(t, 404, "not-found")
	downloads := 0
	rows, err := storetest.Now(t, n.store).ListProjectChanges(t.Context(), "shop", store.AuditPage{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Action == "download" {
			downloads++
			if r.Actor == "Ada" && !strings.Contains(string(r.After), "é.txt") {
				t.Errorf("%+v", r)
			}
		}
	}
	if downloads != 2 {
		t.Errorf("%d downloads are noted, want 2", downloads)
	}
}

// A deleted run is gone from pages, from the API and, after the keeper's next round, from the blob store; content that
// others refer to stays.
func TestDelete(t *testing.T) {
	n := start(t)
	put := func(build, name string, seed int) (run, file int64) {
		a := decode[struct{ ID, Run int64 }](t,
			n.do("PUT", evidence("build", build, "name", name), strings.NewReader(umdhLog(500*seed))).want(t, 201, ""))
		return a.Run, a.ID
	}
	first, _ := put("1", "a.txt", 1)
	second, file := put("2", "b.txt", 1) // the same content
	_, other := put("2", "c.txt", 2)
	stored := func() (count int) {
		for _, err := range n.blobs.List(t.Context(), "sha256/") {
			if err != nil {
				t.Fatal(err)
			}
			count++
		}
		return count
	}
	keeper := &worker.Retention{Store: n.store, Blobs: n.blobs, Log: slog.New(slog.DiscardHandler)}
	sweep := func(want int) {
		t.Helper()
		if _, err := keeper.Sweep(t.Context()); err != nil || stored() != want {
			t.Errorf("%d blobs are left, want %d; %v", stored(), want, err)
		}
	}
	sweep(2)
	n.do("DELETE", fmt.Sprintf("/api/v1/runs/%d", first), nil).want(t, 204, "")
	n.do("GET", fmt.Sprintf("/api/v1/runs/%d", first), nil).want(t, 404, "not-found")
	n.do("DELETE", fmt.Sprintf("/api/v1/runs/%d", first), nil).want(t, 404, "not-found")
	sweep(2)
	n.do("DELETE", fmt.Sprintf("/api/v1/runs/%d/evidence/%d", second, file), nil).want(t, 204, "")
	sweep(1)
	n.do("DELETE", fmt.Sprintf("/api/v1/runs/%d/evidence/%d", second, other), nil).want(t, 422, "invalid-evidence")
	n.do("DELETE", "/api/v1/projects/shop/builds/none", nil).want(t, 404, "not-found")
	n.do("DELETE", "/api/v1/projects/shop/builds/2", nil).want(t, 204, "")
	n.do("GET", fmt.Sprintf("/api/v1/runs/%d", second), nil).want(t, 404, "not-found")
	sweep(0)
	n.do("DELETE", "/api/v1/projects/shop", nil, "X-Heapdrift-Actor", "Ada").want(t, 204, "")
	n.do("GET", "/api/v1/projects/shop/signatures", nil).want(t, 404, "not-found")
	rows, err := storetest.Now(t, n.store).ListServerChanges(t.Context(), store.AuditPage{Limit: 5})
	if err != nil || len(rows) != 1 || rows[0].Actor != "Ada" || rows[0].Action != "delete" {
		t.Errorf("%+v %v", rows, err)
	}
	if run, _ := put("1", "a.txt", 1); run == first {
		t.Error("the number of a run that is deleted is given again")
	}
	sweep(1)
}
