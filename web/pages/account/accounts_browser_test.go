package account_test

import (
	"errors"
	"testing"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/web/pages/account"
	"heapdrift/web/pages/pagestest"
)

// In a browser the first admin opens an account, makes a project, an account for somebody else and a token, and logs
// out. Each page is accessible and fits the window.
func TestAccountsInBrowser(t *testing.T) {
	pagestest.InBrowser(t)
	s, b := pagestest.OpenWithAccounts(t), pagestest.Browse(t)
	link := accounts.NewLink()
	if err := accountstore.CreateSetupLink(t.Context(), s.Store, link, "test"); err != nil {
		t.Fatal(err)
	}
	b.Do(cdp.Navigate(s.URL + "/projects/shopd"))
	b.See(`location.pathname === "/login" && location.search.includes("shopd")`)
	b.OnScreens("login-empty")
	b.Do(cdp.Navigate(s.URL + account.SetupPath(link.Text)))
	b.OnScreens("setup")
	b.Do(pagestest.Typed("#name", "Ada Kirsch"), pagestest.Typed("#password", "correct horse"),
		pagestest.Typed("#again", "correct horse"), pagestest.Press(`//button[text()="Set password"]`))
	b.See(`location.pathname === "/" && document.querySelector(".topbar .account a").innerText === "Ada Kirsch"`)
	if err := s.Store.CreateProject(t.Context(), "shopd", 0, "somebody"); err != nil {
		t.Fatal(err)
	}
	b.Do(cdp.Navigate(s.URL+"/"), pagestest.Press(`//summary[text()="New project"]`),
		pagestest.Typed("#new-project", "audit"),
		pagestest.Press(`//button[text()="Create project"]`))
	b.See(`location.pathname === "/projects/audit/settings" && document.querySelector("#members td").innerText === "Ada Kirsch"`)
	b.Do(cdp.Navigate(s.URL+"/accounts"), pagestest.Typed("#name", "Bo Olsen"),
		pagestest.Typed("#email", "bo@shop.example"),
		pagestest.Press(`//button[text()="Create account"]`))
	b.See(`document.querySelector("#new-link").innerText.startsWith(location.origin + "/setup/")`)
	b.OnScreens("accounts")
	node := store.Node{ID: "1", Role: "work", Host: "build-server-17.shop.example", Version: "1.2.3", SchemaVersion: 16, Slots: 3,
		Says: "store: another schema: the database has version 17, this heapdrift knows 16 only"}
	if err := errors.Join(s.Store.UpdateNode(t.Context(), node),
		s.Store.UpdateSymbolSources(t.Context(),
			[]store.SymbolSourceAnswer{{Place: "msdl.microsoft.com", Result: "found", Count: 12345}})); err != nil {
		t.Fatal(err)
	}
	pagestest.FailRead(t, s.Store, pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, "a.txt").RunID,
		store.Failure{Code: "reader-crashed", Message: "the process that read the files ended before it was through",
			Final: true})
	b.Do(cdp.Navigate(s.URL + "/operators"))
	b.See(`document.querySelector("h1").innerText === "Operators"`)
	b.OnScreens("operators")
	b.Do(cdp.Navigate(s.URL+"/projects/audit/settings"), pagestest.Typed("#user", "bo olsen"),
		pagestest.Press(`//button[text()="Add member"]`))
	b.See(`document.querySelectorAll("#members tbody tr").length === 2`)
	b.Do(pagestest.Typed("#name", "Jenkins nightly"), pagestest.Press(`//button[text()="Create token"]`))
	b.See(`document.querySelector("#new-token").innerText.startsWith("hd_")`)
	b.OnScreens("settings")
	b.Do(cdp.Navigate(s.URL+"/account"), pagestest.Press(`//div[contains(@class, "right")]//button[text()="Log out"]`))
	b.See(`location.pathname === "/login"`)
	b.Do(cdp.Navigate(s.URL+"/login?next=/account"), pagestest.Typed("#name", "ada kirsch"),
		pagestest.Typed("#password", "correct horse"), pagestest.Press(`//button[text()="Log in"]`))
	b.See(`location.pathname === "/account" && document.querySelector("h1").innerText === "Ada Kirsch"`)
	b.OnScreens("account")
}
