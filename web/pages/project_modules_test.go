package pages_test

import (
	"fmt"
	"strings"
	"testing"

	cdp "github.com/chromedp/chromedp"
)

// The card of modules leads to the leaks of each, and the address keeps the module beside the other filters.
func TestModulesOfProject(t *testing.T) {
	s, _ := openShop(t)
	page := s.page("/projects/shopd?sort=growth")
	_, card, _ := strings.Cut(page, `id="modules"`)
	card, _, _ = strings.Cut(card, "</section>")
	has(t, words(card), "Modules growth of open leaks per hour", "shopd ▲ +", "MB/hour", "leaks",
		"audit ▲ +689 KB/hour", "1 leak")
	has(t, card, `href="/projects/shopd?module=audit&amp;sort=growth#leaks-card"`, `class="part" width="`)
	list := s.page("/projects/shopd?module=audit&sort=growth")
	has(t, list, `<option value="audit" selected>audit</option>`,
		`href="/projects/shopd?module=audit&amp;sort=growth&amp;state=new"`, "AuditLog",
		`href="/projects/shopd?sort=growth#leaks-card" aria-current="true"`)
	_, rows, _ := strings.Cut(list, `<div id="leaks">`)
	rows, _, _ = strings.Cut(rows, `id="runs"`)
	lacks(t, rows, appendLine, "SearchIndex")
	if n := strings.Count(rows, "<tr data-row="); n != 1 {
		t.Errorf("%d leaks blame audit", n)
	}
	has(t, words(s.page("/projects/shopd?module=nosuch")), "No leak matches. Show all")
	has(t, s.page("/projects/shopd?module=nosuch"), `<option value="nosuch" selected>`)
}

// Owners are initials with the whole name, and a dashed circle where there is none.
func TestOwnersAreInitials(t *testing.T) {
	s, _ := openShop(t)
	leak := signatureOf(t, s, appendLine)
	if status, page := s.fill("/projects/shopd/signatures/"+leak.Text, "version", fmt.Sprint(leak.Version), "do", "assign",
		"assignee", "Cara Moss"); status != 303 {
		t.Fatalf("%d %.300s", status, page)
	}
	page := s.page("/projects/shopd")
	has(t, page, `role="img" title="Cara Moss" aria-label="Cara Moss">CM</span>`)
	has(t, page, `<span class="av none" role="img" title="no owner" aria-label="no owner">–</span>`)
}

// A module filters the list and appears in the address.
func TestModulesInBrowser(t *testing.T) {
	inBrowser(t)
	s, _ := openHistory(t)
	b := browse(t)
	b.do(cdp.Navigate(s.url+"/projects/shopd"),
		press(`//ul[@class="shares"]//span[text()="plugin"]`))
	b.see(`location.search === "?module=plugin" && document.querySelectorAll("#leaks tr[data-row]").length === 1 && document.querySelector("select[name=module]").value === "plugin"`)
	b.do(press(`.shares a[aria-current]`))
	b.see(`location.search === "" && document.querySelectorAll("#leaks tr[data-row]").length > 1`)
}
