package upload_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/web/pages/pagestest"
)

// Several files are sent in pieces; one can be paused and resumed, the run opens when all have arrived, and the command
// for scripts follows what is typed.
func TestUploadInBrowser(t *testing.T) {
	s, b := pagestest.OpenInBrowser(t)
	dir := t.TempDir()
	large := filepath.Join(dir, "large.log")
	if err := os.WriteFile(large, []byte(log+strings.Repeat("// and so on\r\n", 3<<20)), 0o644); err != nil {
		t.Fatal(err)
	}
	small := filepath.Join(dir, "small.log")
	if err := os.WriteFile(small, []byte(log), 0o644); err != nil {
		t.Fatal(err)
	}
	b.Do(cdp.Navigate(s.URL+"/upload?project=shop"), pagestest.Typed("#f-build", "4812 rc"))
	b.See(`document.querySelector("#curl").textContent.includes("/api/v1/evidence?project=shop&build=4812+rc&name=")`)
	b.Do(pagestest.Chosen("#file", large, small))
	b.See(`document.querySelector("#queue-sum").textContent === "2 files"`)
	b.CheckAccessibility("files chosen")
	// The file is paused after some bytes were sent, and before all were.
	pagestest.Must[bool](t)(cdp.Run(b.Ctx, cdp.Evaluate[bool](`(() => {
		const row = document.querySelector("#files .file"), bar = row.querySelector("progress"), pause = row.querySelector("[data-act=pause]");
		new MutationObserver((_, o) => { if (!pause.hidden && / of /.test(row.querySelector(".says").textContent) && bar.value > 0 && bar.value < 100) { o.disconnect(); pause.click(); } }).observe(row, { subtree: true, childList: true, attributes: true });
		return true;
	})()`)))
	b.Do(pagestest.Press("#start"))
	b.See(`document.querySelector("#files .file .st").textContent === "paused"`)
	b.See(`document.querySelector("#queue-sum").textContent === "2 files, 1 taken"`)
	b.SaveScreenshot("upload-paused")
	b.Do(pagestest.Focused("#files .file [data-act=pause]"), cdp.KeyEvent("\r")) // buttons obey the keyboard
	b.See(`location.pathname === "/runs/1" && document.querySelector(".verdict h1").innerText.includes("0 of 2 files")`)
	files := pagestest.Must[[]store.Evidence](t)(storetest.Now(t, s.Store).ListEvidence(t.Context(), 1))
	if len(files) != 2 || max(files[0].Bytes, files[1].Bytes) != int64(len(log)+14*3<<20) {
		t.Errorf("stored %+v", files)
	}
}
