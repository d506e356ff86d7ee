package pages_test

import (
	"errors"
	"testing"

	cdp "github.com/chromedp/chromedp"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/web/pages/account"
)

// In a browser the first admin opens an account, makes a project, an account for somebody else and a token, and logs
// out. Each page is accessible and fits the window.
func TestAccountsInBrowser(t *testing.T) {
	inBrowser(t)
	s, b := openClosed(t), browse(t)
	link := accounts.NewLink()
	if err := accountstore.CreateSetupLink(t.Context(), s.store, link, "test"); err != nil {
		t.Fatal(err)
	}
	b.do(cdp.Navigate(s.url + "/projects/shopd"))
	b.see(`location.pathname === "/login" && location.search.includes("shopd")`)
	b.onScreens("login-empty")
	b.do(cdp.Navigate(s.url + account.SetupPath(link.Text)))
	b.onScreens("setup")
	b.do(typed("#name", "Ada Kirsch"), typed("#password", "correct horse"),
		typed("#again", "correct horse"), press(`//button[text()="Set password"]`))
	b.see(`location.pathname === "/" && document.querySelector(".topbar .account a").innerText === "Ada Kirsch"`)
	if err := s.store.CreateProject(t.Context(), "shopd", 0, "somebody"); err != nil {
		t.Fatal(err)
	}
	b.do(cdp.Navigate(s.url+"/"), press(`//summary[text()="New project"]`), typed("#new-project", "audit"),
		press(`//button[text()="Create project"]`))
	b.see(`location.pathname === "/projects/audit/settings" && document.querySelector("#members td").innerText === "Ada Kirsch"`)
	b.do(cdp.Navigate(s.url+"/accounts"), typed("#name", "Bo Olsen"), typed("#email", "bo@shop.example"),
		press(`//button[text()="Create account"]`))
	b.see(`document.querySelector("#new-link").innerText.startsWith(location.origin + "/setup/")`)
	b.onScreens("accounts")
	node := store.Node{ID: "1", Role: "work", Host: "build-server-17.shop.example", Version: "1.2.3", Schema: 16, Slots: 3,
		Says: "store: another schema: the database has version 17, this heapdrift knows 16 only"}
	if err := errors.Join(s.store.UpdateNode(t.Context(), node),
		s.store.UpdatePlaces(t.Context(),
			[]store.PlaceAnswer{{Place: "msdl.microsoft.com", Result: "found", Count: 12345}})); err != nil {
		t.Fatal(err)
	}
	fail(t, s.store, addEvidence(t, s.store, target, "a.txt").RunID,
		store.Failure{Code: "reader-crashed", Message: "the process that read the files ended before it was through",
			Final: true})
	b.do(cdp.Navigate(s.url + "/operators"))
	b.see(`document.querySelector("h1").innerText === "Operators"`)
	b.onScreens("operators")
	b.do(cdp.Navigate(s.url+"/projects/audit/settings"), typed("#user", "bo olsen"),
		press(`//button[text()="Add member"]`))
	b.see(`document.querySelectorAll("#members tbody tr").length === 2`)
	b.do(typed("#name", "Jenkins nightly"), press(`//button[text()="Create token"]`))
	b.see(`document.querySelector("#new-token").innerText.startsWith("hd_")`)
	b.onScreens("settings")
	b.do(cdp.Navigate(s.url+"/account"), press(`//div[contains(@class, "right")]//button[text()="Log out"]`))
	b.see(`location.pathname === "/login"`)
	b.do(cdp.Navigate(s.url+"/login?next=/account"), typed("#name", "ada kirsch"),
		typed("#password", "correct horse"), press(`//button[text()="Log in"]`))
	b.see(`location.pathname === "/account" && document.querySelector("h1").innerText === "Ada Kirsch"`)
	b.onScreens("account")
}
