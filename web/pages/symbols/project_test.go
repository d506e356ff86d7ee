package symbols_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/web/pages/pagestest"
	"heapdrift/worker/workertest"
)

func TestProjectSymbols(t *testing.T) {
	s := pagestest.Open(t)
	pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.Shop, 2), sought)
	page := s.Page("/projects/shopd/symbols")
	pagestest.Has(t, page, `href="/projects/shopd"`, "<h1>Symbols of shopd</h1>", "3 modules",
		"BatteryMeter.exe",
		"<b>BatteryMeter.pdb</b> of the recorded build, if possible with <b>BatteryMeter.exe</b> (1,167,360 bytes image size), which identifies the build",
		"2 look-ups", ">31<", `title="2,223,360 B in 5,790 blocks">2.12 MB<`,
		`href="/runs/1" title="newest run without these symbols">1 run<`,
		"plugin.dll", ">mismatch<", "<b>plugin.pdb</b>, age 1, GUID <code>5E0A4B5C-9F1D-4E3A-8B6C-7D8E9FA0B1C2</code>",
		"2 look-ups", "its GUID differs",
		"0 files", "No symbols are stored.", `action="/symbols"`, `name="project" value="shopd"`,
		"heapdrift symbols add build/ --url "+s.URL, `srv*C:\Symbols*`+s.URL+"/symbols")
	pagestest.Lacks(t, page, "ntdll.dll", "silent.dll")
	if status, _ := s.Get("/projects/nobody/symbols"); status != http.StatusNotFound {
		t.Errorf("a project that is not there: %d", status)
	}
}

func TestStoredSymbols(t *testing.T) {
	s := pagestest.Open(t)
	pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, "a.log")
	for i := range 120 {
		f := store.SymbolFile{Kind: "pdb", Name: fmt.Sprintf("Lib%03d.pdb", i), Key: fmt.Sprintf("KEY%d", i%10),
			Machine: "x64", Symbols: "private", SHA256: "5A", Bytes: 2048, Origin: store.OriginUpload}
		if i == 119 {
			f.Name, f.Kind, f.Symbols, f.Origin, f.Note = "<b>.dll", "image", "export", store.OriginServer, "it names no PDB"
		}
		pagestest.Must[store.CreatedSymbolFile](t)(s.Store.CreateSymbolFile(t.Context(), f))
	}
	page := s.Page("/projects/shopd/symbols")
	pagestest.Has(t, page, "No symbols are missing for this project", "1–50 of 120 files",
		`href="/symbols/%3Cb%3E.dll/KEY9/%3Cb%3E.dll"`,
		"&lt;b&gt;.dll", "it names no PDB", "image", ">export", "2.00 KB", "server", "Lib118.pdb", "uploaded",
		"Lib071.pdb", "Older ›")
	pagestest.Lacks(t, page, "Lib068.pdb", "Newest", "<b>.dll")
	page = s.Page(pagestest.LinkOf(t, page, "Older ›"))
	pagestest.Has(t, page, "51–100 of 120 files", "Lib069.pdb", "« Newest")
	page = s.Page(pagestest.LinkOf(t, page, "Older ›"))
	pagestest.Has(t, page, "101–120 of 120 files", "Lib000.pdb", `href="/projects/shopd/symbols"`)
	pagestest.Lacks(t, page, "Older")
	pagestest.Has(t, s.Page("/projects/shopd/symbols?after=-1"), "1–50 of 120 files")
	page = s.Page("/projects/shopd/symbols?q=lib11")
	pagestest.Has(t, page, "9 files", `value="lib11"`, "Lib118.pdb")
	pagestest.Lacks(t, page, "Lib109.pdb", "pager")
	pagestest.Has(t, s.Page("/projects/shopd/symbols?q=none"), "No file has this name or key")
	pagestest.Has(t, s.Page("/projects/shopd/symbols?q=KEY9&after=x"), "12 files")
}

func TestSymbolForm(t *testing.T) {
	s := pagestest.Open(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.Shop[:1], 1))
	pdb, image := workertest.Till(t)
	files := []pagestest.FormPart{{Field: "file", File: "till.pdb", Content: string(pdb)},
		{Field: "file", File: `C:\till\till.exe`, Content: string(image)}}
	onRun := pagestest.FormPart{Field: "run", File: "", Content: fmt.Sprint(run)}
	if status, to := s.PostTo("/symbols", append([]pagestest.FormPart{onRun},
		files...)...); status != http.StatusSeeOther ||
		to != fmt.Sprintf("/runs/%d#symbols", run) {
		t.Errorf("%d to %s", status, to)
	}
	if status, to := s.PostTo("/symbols", pagestest.FormPart{Field: "project", File: "", Content: "my shop"},
		files[0]); status != http.StatusSeeOther ||
		to != "/projects/my%20shop/symbols" {
		t.Errorf("%d to %s", status, to)
	}
	stored := pagestest.Must[*store.SymbolPage](t)(storetest.Now(t, s.Store).ListSymbolFiles(t.Context(),
		store.SymbolQuery{Limit: 9})).Files
	if len(stored) != 2 || stored[0].Group == "" || stored[0].Group != stored[1].Group {
		t.Errorf("stored %+v", stored)
	}
	status, page := s.PostTo("/symbols", onRun, pagestest.FormPart{Field: "file", File: "photo.jpg",
		Content: "\xff\xd8\xff\xe0"}, files[0])
	if status != http.StatusUnprocessableEntity {
		t.Error(status)
	}
	pagestest.Has(t, page, "Rejected files", fmt.Sprintf(`href="/runs/%d#symbols"`, run), "photo.jpg", "not-symbols")
	status, page = s.PostTo("/symbols", pagestest.FormPart{Field: "run", File: "", Content: "x"})
	if status != http.StatusUnprocessableEntity {
		t.Error(status)
	}
	pagestest.Has(t, page, "No file chosen", `href="/"`)
}

func TestLookAgain(t *testing.T) {
	s := pagestest.Open(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.Shop[:1], 1))
	if status, to := s.PostTo(fmt.Sprintf("/runs/%d/symbolise", run)); status != http.StatusSeeOther ||
		to != fmt.Sprintf("/runs/%d", run) {
		t.Errorf("%d to %s", status, to)
	}
	pagestest.Claim(t, s.Store, store.JobSymbolise, run)
	if status, _ := s.PostTo("/runs/999/symbolise"); status != http.StatusNotFound {
		t.Error(status)
	}
}

// Symbol files that are dropped on a run name its frames while the page is open.
func TestDroppedSymbolsNameFramesInBrowser(t *testing.T) {
	pagestest.InBrowser(t)
	s, b := pagestest.OpenWithWorker(t), pagestest.Browse(t)
	dir := t.TempDir()
	pdb, image := workertest.Till(t)
	var paths []string
	for name, data := range map[string][]byte{"till.pdb": pdb, "till.exe": image, "1.log": []byte(workertest.TillLog(1)),
		"2.log": []byte(workertest.TillLog(2))} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) != ".log" {
			paths = append(paths, path)
		}
	}
	b.Do(cdp.Navigate(s.URL+"/upload?project=till&build=1"),
		pagestest.Chosen("#file", filepath.Join(dir, "1.log"), filepath.Join(dir, "2.log")), pagestest.Press("#start"))
	b.See(`document.querySelector("#symbols .want") && document.querySelector("#view") && document.querySelector("#view").innerText.includes("till+0x1035")`)
	b.Do(pagestest.Chosen("#file", paths...))
	b.See(`document.querySelector("#view") && document.querySelector("#view").innerText.includes("main")`)
	b.See(`document.querySelector("#symbols .sum").innerText === "2 of 2 frames resolved"`)
	b.SaveScreenshot("symbols-named")
	b.Do(cdp.Navigate(s.URL + "/projects/till/symbols"))
	b.CheckAccessibility("project, light")
	b.SaveScreenshot("symbols-project")
	b.Do(pagestest.Chosen("#file", paths[:1]...))
	b.See(`document.querySelector(".found li") && document.querySelector(".found li").innerText.includes("no run needs this file yet")`)
	b.CheckAccessibility("project, a file sent")
	b.Do(cdp.EmulateViewport(390, 844))
	b.CheckFitsWidth("project, narrow")
	b.SaveScreenshot("symbols-project-390")
}
