package project_test

import (
	"fmt"
	"strings"
	"testing"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/web/pages/pagestest"
)

// The card of modules leads to the leaks of each, and the address keeps the module beside the other filters.
func TestModulesOfProject(t *testing.T) {
	s, _ := pagestest.OpenShop(t)
	page := s.Page("/projects/shopd?sort=growth")
	_, card, _ := strings.Cut(page, `id="modules"`)
	card, _, _ = strings.Cut(card, "</section>")
	pagestest.Has(t, pagestest.Words(card), "Modules growth of open leaks per hour", "shopd ▲ +", "MB/hour", "leaks",
		"audit ▲ +689 KB/hour", "1 leak")
	pagestest.Has(t, card, `href="/projects/shopd?module=audit&amp;sort=growth#leaks-card"`, `class="part" width="`)
	list := s.Page("/projects/shopd?module=audit&sort=growth")
	pagestest.Has(t, list, `<option value="audit" selected>audit</option>`,
		`href="/projects/shopd?module=audit&amp;sort=growth&amp;state=new"`, "AuditLog",
		`href="/projects/shopd?sort=growth#leaks-card" aria-current="true"`)
	_, rows, _ := strings.Cut(list, `<div id="leaks">`)
	rows, _, _ = strings.Cut(rows, `id="runs"`)
	pagestest.Lacks(t, rows, pagestest.AppendLine, "SearchIndex")
	if n := strings.Count(rows, "<tr data-row="); n != 1 {
		t.Errorf("%d leaks blame audit", n)
	}
	pagestest.Has(t, pagestest.Words(s.Page("/projects/shopd?module=nosuch")), "No leak matches. Show all")
	pagestest.Has(t, s.Page("/projects/shopd?module=nosuch"), `<option value="nosuch" selected>`)
}

// Owners are initials with the whole name, and a dashed circle where there is none.
func TestOwnersAreInitials(t *testing.T) {
	s, _ := pagestest.OpenShop(t)
	leak := pagestest.SignatureOf(t, s, pagestest.AppendLine)
	if status, page := s.Fill("/projects/shopd/signatures/"+leak.Text, "version", fmt.Sprint(leak.Version), "do", "assign",
		"assignee", "Cara Moss"); status != 303 {
		t.Fatalf("%d %.300s", status, page)
	}
	page := s.Page("/projects/shopd")
	pagestest.Has(t, page, `role="img" title="Cara Moss" aria-label="Cara Moss">CM</span>`)
	pagestest.Has(t, page, `<span class="av none" role="img" title="no owner" aria-label="no owner">–</span>`)
}

// A module filters the list and appears in the address.
func TestModulesInBrowser(t *testing.T) {
	pagestest.InBrowser(t)
	s, _ := pagestest.OpenHistory(t)
	b := pagestest.Browse(t)
	b.Do(cdp.Navigate(s.URL+"/projects/shopd"),
		pagestest.Press(`//ul[@class="shares"]//span[text()="plugin"]`))
	b.See(`location.search === "?module=plugin" && document.querySelectorAll("#leaks tr[data-row]").length === 1 && document.querySelector("select[name=module]").value === "plugin"`)
	b.Do(pagestest.Press(`.shares a[aria-current]`))
	b.See(`location.search === "" && document.querySelectorAll("#leaks tr[data-row]").length > 1`)
}
