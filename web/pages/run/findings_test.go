package run_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"heapdrift/web/pages/pagestest"
)

func TestFindingsOfRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s := pagestest.Open(t)
	run := pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, pagestest.CapturesOf(pagestest.ShopAnd(60), 11))
	leak := pagestest.SignatureOf(t, s, pagestest.AppendLine)
	page := s.Page(fmt.Sprintf("/runs/%d", run))
	_, table, _ := strings.Cut(page, `id="view"`)
	pagestest.Has(t, pagestest.Words(table), "leak", "AppendLine", "receipt.cpp:118", "2.12 MB", "▲ +2.48 MB/hour",
		"73 signatures")
	if n := strings.Count(table, "data-row="); n != 50 {
		t.Errorf("%d signatures on the first page", n)
	}
	if n := strings.Count(s.Page(fmt.Sprintf("/runs/%d?page=2", run)), "data-row="); n != 23 {
		t.Errorf("%d signatures on the last page", n)
	}
	// A row is addressed by its signature, in whatever order the rows are.
	open := fmt.Sprintf("/runs/%d?open=%s&metric=held", run, url.QueryEscape(leak.Text))
	pagestest.Has(t, pagestest.Words(s.Page(open)), "Reasons", "met:", "umdh-snapshot", "Open triage and history",
		"Assign owner", "1 site")
	pagestest.Has(t, s.Page(open), "metric=held",
		`href="/projects/shopd/rules?add=module%3Ashopd+function%3AShop%3A%3AOrders%3A%3AReceipts%3A%3AReceipt%3A%3AAppendLine+-%3E+owner%3DNAME"`)
	part := s.Page(open, "HX-Request", "true", "HX-Target", "view")
	if !strings.HasPrefix(part, `<div id="view">`) || strings.Contains(part, `id="q"`) {
		t.Errorf("the part begins with %.100s", part)
	}
	if n := strings.Count(s.Page(fmt.Sprintf("/runs/%d?open=none", run)), `class="detail`); n != 0 {
		t.Errorf("%d rows are open where none is asked for", n)
	}
}

func TestRuleOfEachFrame(t *testing.T) {
	s, run := pagestest.OpenShop(t)
	page := s.Page(pagestest.SitesPath(run, "open=0"))
	_, table, _ := strings.Cut(page, `<table class="layers">`)
	table, _, _ = strings.Cut(table, "</table>")
	pagestest.Has(t, pagestest.Words(table), "ntdll!RtlAllocateHeap", "allocator", "alloc/ntdll", "shopd!operator new",
		"AppendLine",
		"your own, blamed", "origin/", "Order::Commit", "blame here instead", "ntdll!RtlUserThreadStart",
		"thread start", "base/thread")
	m := regexp.MustCompile(`Order::Commit</td>(?s:.*?)href="([^"]*)"`).FindStringSubmatch(table)
	if m == nil {
		t.Fatal(table)
	}
	editor := s.Page(strings.ReplaceAll(m[1], "&amp;", "&"))
	pagestest.Has(t, editor, "module:shopd function:Shop::Orders::Receipts::Receipt::AppendLine -&gt; plumbing")
}
