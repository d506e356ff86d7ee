package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/internal/accounts"
	"heapdrift/internal/await"
	"heapdrift/internal/embedded"
	"heapdrift/internal/memory"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/internal/testbrowser"
	"heapdrift/internal/testdb"
)

func TestMain(m *testing.M) {
	sandbox.Main(readers())
	testdb.Main(m, store.Migrate)
	if binaryFolder != "" {
		_ = os.RemoveAll(binaryFolder) // a temporary one
	}
}

// startServer runs everything that "up" runs, on a database of the test's own, and returns its address.
func startServer(t *testing.T) string {
	t.Helper()
	address, _ := startServerAs(t, "")
	return address
}

// startServerAs is the same with a value of HEAPDRIFT_OPEN. It returns the server's store too.
func startServerAs(t *testing.T, open string) (address string, db *store.Store) {
	t.Helper()
	return startServerWith(t, func(c *config) { c.Open = open })
}

// startServerWith is the same with other settings.
func startServerWith(t *testing.T, set func(*config)) (address string, db *store.Store) {
	t.Helper()
	redis, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(redis.Stop)
	c := config{DatabaseURL: testdb.New(t), RedisURL: "redis://" + redis.Addr(), BlobURL: "file://" + t.TempDir(),
		Listen: "127.0.0.1:0", MaxUpload: 1 << 30, Concurrency: 2,
		Downloads: os.Getenv("HEAPDRIFT_DOWNLOADS")}
	set(&c)
	r := role{web: true, work: true, freshBroker: true, atHome: true}
	p, err := openParts(t.Context(), c, r, memory.NewBudget(0), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	listens, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- p.run(ctx, r, func(_ context.Context, at serverAddress) error { listens <- at.address; return nil })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		p.store.Close()
	})
	select {
	case a := <-listens:
		return "http://" + a, p.store
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
		return "", nil
	}
}

// tokenFor makes a token of a project.
func tokenFor(t *testing.T, s *store.Store, project string, scopes ...accounts.Scope) string {
	t.Helper()
	secret, prefix := accounts.NewToken()
	if _, err := accountstore.CreateToken(t.Context(), s, project,
		&accountstore.Token{Name: "ci", Prefix: prefix, Scopes: scopes, CreatedBy: "test"}, secret); err != nil {
		t.Fatal(err)
	}
	return secret.Text
}

// startBrowser starts headless Chromium; what its pages log as an error fails the test, unless it holds one of the
// expected texts.
func startBrowser(t *testing.T, expected ...string) context.Context {
	t.Helper()
	allocator, stop := cdp.NewExecAllocator(context.Background(),
		testbrowser.Options(testbrowser.Find(t), t.TempDir())...)
	t.Cleanup(stop)
	ctx, stop := cdp.NewContext(allocator)
	t.Cleanup(stop)
	if err := cdp.Do(ctx); err != nil { // starts the browser; a deadline here would end it, too
		t.Fatal(err)
	}
	messages := cdp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if (m.Type == cdp.ConsoleError || m.Type == cdp.ConsoleException) &&
				!slices.ContainsFunc(expected, func(e string) bool { return strings.Contains(m.Text, e) }) {
				t.Errorf("the page logged %s: %s", m.Type, m.Text)
			}
		}
	}()
	ctx, stop = context.WithTimeout(ctx, testbrowser.Patience)
	t.Cleanup(stop)
	return ctx
}

// writeLog writes a raw log in which block n of the leaking stack is the newest.
func writeLog(t *testing.T, name string, minute, leaked int) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "// UMDH: version 10.0.19041.1: Logtime 2025-03-04 12:%02d - Machine=LAB - PID=42\r\n// Loaded modules: \r\n//     Base Size Module\r\n", minute)
	b.WriteString("//        7FF654800000    40000 C:\\app\\shop.exe\r\n//        7FF971310000    40000 C:\\Windows\\System32\\ntdll.dll\r\n//\r\n// Process modules enumerated.\r\n")
	b.WriteString("*- - - - - - - - - - Start of data for heap @ 1D147000000 - - - - - - - - - -\r\n*- - - - - - - - - - Heap 1D147000000 Hogs - - - - - - - - - -\r\n")
	for i := range leaked {
		fmt.Fprintf(&b, "400 bytes + 30 at %X by BackTraceBD55953A\r\n", 0x1D147000880+i*0x430)
		if i == 0 {
			b.WriteString("\t7FF9713104AD\r\n\t7FF6548014AD\r\n\t7FF654801583\r\n\t7FF971312651\r\n\r\n")
		}
	}
	b.WriteString("80 bytes + 30 at 1D149000880 by BackTrace1A2B\r\n\t7FF9713104AD\r\n\t7FF654802AAA\r\n\t7FF971312651\r\n\r\n")
	b.WriteString("*- - - - - - - - - - End of data for heap @ 1D147000000 - - - - - - - - - -\r\n")
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// ask runs a script in the page until its value is enough, and returns that. The page may load anew meanwhile, which
// ends its scripts and takes its nodes away.
func ask[T any](ctx context.Context, t *testing.T, what, script string, enough func(T) bool) T {
	t.Helper()
	var value T
	var err error
	patient, cancel := context.WithTimeout(ctx, await.Patience)
	defer cancel()
	if await.Poll(patient, func() bool {
		value, err = cdp.Run(ctx, cdp.Evaluate[T](script, cdp.EvalAwaitPromise))
		return err == nil && enough(value)
	}) {
		return value
	}
	shown, _ := cdp.Run(ctx, cdp.Evaluate[string](
		`location.href + "\n" + document.title + "\n" + document.querySelector("main").innerText`))
	t.Fatalf("waited in vain for %s: %v; the page shows %s", what, err, shown)
	return value
}

// poll waits until an expression in the page is true.
func poll(ctx context.Context, t *testing.T, what, expression string) {
	t.Helper()
	ask(ctx, t, what, "!!("+expression+")", func(is bool) bool { return is })
}

// told returns the text that a script gives.
func told(ctx context.Context, t *testing.T, what, script string) string {
	t.Helper()
	return ask(ctx, t, what, script, func(string) bool { return true })
}

func text(ctx context.Context, t *testing.T, selector string) string {
	t.Helper()
	return told(ctx, t, "text of "+selector, fmt.Sprintf("document.querySelector(%q).innerText", selector))
}

// The text of a page is read although the page loads anew again and again.
func TestTextOfAPageThatLoadsAnew(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	var loads atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		again := ""
		if loads.Add(1) < 30 && r.URL.Path == "/" {
			again = "<script>setTimeout(() => location.reload(), 20)</script>"
		}
		fmt.Fprintf(w, "<!doctype html><link rel=icon href='data:,'><p>growth</p>%s", again)
	}))
	defer server.Close()
	ctx := startBrowser(t)
	if err := cdp.Do(ctx, cdp.Navigate(server.URL)); err != nil {
		t.Fatal(err)
	}
	for loads.Load() < 30 {
		if s := text(ctx, t, "p"); s != "growth" {
			t.Fatalf("the text is %q", s)
		}
	}
}

// pressStart is true once it has pressed the button that sends files, which moves as the page fills.
const pressStart = `(button => button.checkVisibility() && !button.disabled && (button.click(), true))(document.getElementById("start"))`

// A developer drops two logs on the upload page, and they become a report that names the growth.
func TestTwoLogsBecomeAReport(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	server := startServer(t)
	ctx := startBrowser(t)
	files := []string{writeLog(t, "snap1.txt", 10, 1000), writeLog(t, "snap2.txt", 20, 3000)}
	if err := cdp.Do(ctx,
		cdp.Navigate(server+"/upload?project=shop&build=4812&scenario=soak"),
		cdp.SetUploadFiles("#file", files),
	); err != nil {
		t.Fatal(err)
	}
	poll(ctx, t, "what both files are",
		`document.getElementById("files").innerText.split("by its first bytes").length === 3`)
	poll(ctx, t, "the button", pressStart)
	// The run opens by itself when both files are there.
	poll(ctx, t, "the report of both snapshots",
		`/over 2 snapshots/.test(document.querySelector(".verdict h1")?.innerText || "")`)
	verdict := text(ctx, t, ".verdict h1")
	for _, says := range []string{"shop.exe grew by 1.95 MB in 2,000 blocks", "shop+0x14ad", "3 more snapshots"} {
		if !strings.Contains(verdict, says) {
			t.Errorf("the verdict %q does not say %q", verdict, says)
		}
	}
	if word := text(ctx, t, ".verdict .word b"); word != "Inconclusive" {
		t.Errorf("the word is %q", word)
	}
	checkAxe(ctx, t)
	screenshot(ctx, t, "report.png")
}

// checkAxe checks with axe-core that people can use the page.
func checkAxe(ctx context.Context, t *testing.T) {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("..", "..", "web", "testdata", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	found := told(ctx, t, "axe", string(script)+"\n"+
		`;axe.run().then(r => JSON.stringify(r.violations.map(v => v.id + ": " + v.nodes.map(n => n.target.join(" ")).join(", "))))`)
	var violations []string
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		t.Errorf("axe: %s", v)
	}
}

// screenshot keeps a picture of the page in HEAPDRIFT_ARTIFACTS, or in the test's own folder.
func screenshot(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	png, err := cdp.Run(ctx, cdp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	dir := os.Getenv("HEAPDRIFT_ARTIFACTS")
	if dir == "" {
		dir = t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), png, 0o600); err != nil {
		t.Fatal(err)
	}
	if len(png) < 20_000 {
		t.Errorf("the picture has %d bytes: the page is empty", len(png))
	}
}

// A file that is not evidence is refused on the page with a reason, and leaves no project behind.
func TestRefusalIsShown(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	server := startServer(t)
	photo := filepath.Join(t.TempDir(), "photo.txt")
	if err := os.WriteFile(photo, []byte("\xff\xd8\xff\xe0 JFIF"), 0o600); err != nil {
		t.Fatal(err)
	}
	// 404: the answer about the file's first bytes may come while the file is sent; then the page deletes an upload
	// that the server has refused already.
	ctx := startBrowser(t, "status of 415", "status of 404")
	if err := cdp.Do(ctx, cdp.Navigate(server+"/upload?project=shop&build=1"),
		cdp.SetUploadFiles("#file", []string{photo})); err != nil {
		t.Fatal(err)
	}
	poll(ctx, t, "the button", pressStart) // before the server says what it is
	poll(ctx, t, "the refusal", `document.querySelector("#files .failed .err")?.innerText.includes("JPEG")`)
	if err := cdp.Do(ctx, cdp.Navigate(server+"/")); err != nil {
		t.Fatal(err)
	}
	if home := text(ctx, t, "main"); strings.Contains(home, "shop\n") {
		t.Errorf("the refused file left a project: %s", home)
	}
}
