package accountstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/internal/store/storetest"
)

// accounted is a lab whose first account, "root", administers the server.
func accounted(t *testing.T) *lab {
	t.Helper()
	l := newLab(t)
	link := accounts.NewLink()
	if err := accountstore.CreateSetupLink(t.Context(), l.Store, link, "test"); err != nil {
		t.Fatal(err)
	}
	storetest.Must[accountstore.User](t)(accountstore.UseLink(t.Context(), l.Store, link.Digest, "root", "hash"))
	return l
}

func (l *lab) addUser(name string, admin bool) accountstore.User {
	l.Helper()
	return storetest.Must[accountstore.User](l)(accountstore.CreateUser(l.Context(), l.Store, name, name+"@example.org", admin, "root"))
}

func (l *lab) user(name string) accountstore.User {
	l.Helper()
	return storetest.Must[accountstore.User](l)(accountstore.FindUserByName(l.Context(), l.now(), name))
}

// mayAs is what a session of a user may do; "" where it has ended.
func (l *lab) mayAs(id int64, epoch int) string {
	l.Helper()
	a, err := accountstore.FindUserActor(l.Context(), l.now(), id, epoch)
	if errors.Is(err, store.ErrNotFound) {
		return ""
	}
	if err != nil {
		l.Fatal(err)
	}
	return fmt.Sprintf("%s server %t %v", a.Name, a.Server, a.RoleByProject)
}

// A user is an admin of the server or not, locked or not; each change ends the sessions of that user alone, and the
// last admin who may log in stays one.
func TestUsers(t *testing.T) {
	l := accounted(t)
	ctx := t.Context()
	ann, bob := l.addUser("Ann", false), l.addUser("bob", false)
	if _, err := accountstore.CreateUser(ctx, l.Store, "ANN", "", false, "root"); complaintOf(err) != "name" {
		t.Errorf("a name that differs in case only: %v", err)
	}
	if _, err := accountstore.CreateUser(ctx, l.Store, "eve", strings.Repeat("a", 255), false, "root"); complaintOf(err) != "email" {
		t.Errorf("an address of 255 characters: %v", err)
	}
	storetest.Must[accountstore.User](t)(accountstore.CreateUser(ctx, l.Store, "eve", strings.Repeat("a", 254), false, "root"))
	var names []string
	for _, u := range storetest.Must[[]accountstore.User](t)(accountstore.ListUsers(ctx, l.now())) {
		names = append(names, u.Name)
	}
	if got := strings.Join(names, " "); got != "Ann bob eve root" {
		t.Errorf("users %s", got)
	}
	if u := l.user("aNN"); u.ID != ann.ID || u.Email != "Ann@example.org" || u.Admin {
		t.Errorf("%+v", u)
	}
	if got := l.mayAs(ann.ID, 0); got != "Ann server false map[]" {
		t.Errorf("a new session may %q", got)
	}
	for _, step := range []struct {
		do                       func() error
		what                     string
		ann, annEpoch, bobEpoch0 string
	}{
		{func() error { return accountstore.UpdateUserAdmin(ctx, l.Store, "ann", false, "root") }, "what is so already", "Ann server false map[]", "0", "bob"},
		{func() error { return accountstore.UpdateUserAdmin(ctx, l.Store, "ann", true, "root") }, "made an admin", "Ann server true map[]", "1", "bob"},
		{func() error { return accountstore.UpdateUserLocked(ctx, l.Store, "ann", true, "root") }, "locked", "", "2", "bob"},
		{func() error { return accountstore.UpdateUserLocked(ctx, l.Store, "ann", false, "root") }, "unlocked", "Ann server true map[]", "3", "bob"},
		{func() error { return accountstore.UpdateUserAdmin(ctx, l.Store, "ann", false, "root") }, "no admin", "Ann server false map[]", "4", "bob"},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		u := l.user("ann")
		if got := l.mayAs(ann.ID, u.Epoch); got != step.ann || fmt.Sprint(u.Epoch) != step.annEpoch {
			t.Errorf("%s: in epoch %d may %q, want %q", step.what, u.Epoch, got, step.ann)
		}
		if u.Epoch > 0 && l.mayAs(ann.ID, u.Epoch-1) != "" {
			t.Errorf("%s: the session of before goes on", step.what)
		}
		if got := l.mayAs(bob.ID, 0); !strings.HasPrefix(got, step.bobEpoch0) {
			t.Errorf("%s: the session of another ended", step.what)
		}
	}
}

// The last admin who may log in stays one: a locked admin is no other.
func TestLastAdmin(t *testing.T) {
	l := accounted(t)
	ctx := t.Context()
	l.addUser("bob", true)
	if err := accountstore.UpdateUserLocked(ctx, l.Store, "bob", true, "root"); err != nil {
		t.Fatal(err)
	}
	if err := accountstore.UpdateUserAdmin(ctx, l.Store, "root", false, "root"); complaintOf(err) != "admin" {
		t.Errorf("the last admin gives the right away: %v", err)
	}
	if err := accountstore.UpdateUserLocked(ctx, l.Store, "ROOT", true, "root"); complaintOf(err) != "locked" {
		t.Errorf("the last admin is locked: %v", err)
	}
	if u := l.user("root"); !u.Admin || u.LockedAt != nil || u.Epoch != 0 {
		t.Errorf("what was refused is done: %+v", u)
	}
	if err := accountstore.UpdateUserAdmin(ctx, l.Store, "bob", false, "root"); err != nil {
		t.Errorf("a locked admin loses the right: %v", err)
	}
	if err := errors.Join(accountstore.UpdateUserLocked(ctx, l.Store, "bob", false, "root"), accountstore.UpdateUserAdmin(ctx, l.Store, "bob", true, "root"),
		accountstore.UpdateUserAdmin(ctx, l.Store, "root", false, "root")); err != nil {
		t.Errorf("one of two admins gives the right away: %v", err)
	}
	if err := accountstore.UpdateUserLocked(ctx, l.Store, "nobody", true, "root"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown user is locked: %v", err)
	}
}

// Without an account there is none to make others; a locked one has none of its roles, and users come by their issuer's
// name for them.
func TestUserOfSubject(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	if has := storetest.Must[bool](t)(accountstore.HasUsers(ctx, l.Store)); has {
		t.Error("an empty server has users")
	}
	if _, err := accountstore.CreateUser(ctx, l.Store, "ann", "", true, ""); complaintOf(err) != "name" {
		t.Errorf("the first account is made without a link: %v", err)
	}
	ann := storetest.Must[accountstore.User](t)(accountstore.FindOrCreateSubject(ctx, l.Store, "https://id", "1", "Ann", "ann@example.org"))
	if !storetest.Must[bool](t)(accountstore.HasUsers(ctx, l.Store)) || ann.Name != "Ann" || ann.Issuer != "https://id" || ann.Email != "ann@example.org" ||
		ann.Admin {
		t.Errorf("%+v", ann)
	}
	same := storetest.Must[accountstore.User](t)(accountstore.FindOrCreateSubject(ctx, l.Store, "https://id", "1", "Other", ""))
	otherSubject := storetest.Must[accountstore.User](t)(accountstore.FindOrCreateSubject(ctx, l.Store, "https://id", "2", "ANN", ""))
	otherIssuer := storetest.Must[accountstore.User](t)(accountstore.FindOrCreateSubject(ctx, l.Store, "https://x", "1", "ann", ""))
	if same.ID != ann.ID || same.Name != "Ann" || otherSubject.Name != "ANN 2" || otherIssuer.Name != "ann 3" {
		t.Errorf("%+v, %+v, %+v", same, otherSubject, otherIssuer)
	}
	l.sql(`update users set locked_at = now() where id = $1`, ann.ID)
	if _, err := accountstore.FindOrCreateSubject(ctx, l.Store, "https://id", "1", "Ann", ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a locked account: %v", err)
	}
	storetest.Must[accountstore.User](t)(accountstore.FindOrCreateSubject(ctx, l.Store, "https://id", "2", "ANN", ""))
}

// Roles are of one user in one project.
func TestMembers(t *testing.T) {
	l := accounted(t)
	ctx := t.Context()
	ann, bob := l.addUser("Ann", false), l.addUser("bob", false)
	for _, name := range []string{"one", "two"} {
		if err := l.CreateProject(ctx, name, bob.ID, "root"); err != nil {
			t.Fatal(err)
		}
	}
	set := func(project, user string, role accounts.Role) {
		t.Helper()
		if err := accountstore.UpdateMember(ctx, l.Store, project, user, role, "root"); err != nil {
			t.Fatal(err)
		}
	}
	all := func() string {
		t.Helper()
		members := func(project string) []accountstore.Membership {
			return storetest.Must[[]accountstore.Membership](t)(accountstore.ListMembers(ctx, l.now(), project))
		}
		return fmt.Sprint(members("one"), members("two"), storetest.Must[[]accountstore.RoleIn](t)(accountstore.ListRoles(ctx, l.now(), ann.ID)))
	}
	set("one", "ANN", accounts.Viewer)
	set("two", "ann", accounts.Admin)
	set("two", "ann", accounts.Member)
	if got := all(); got != "[{Ann viewer} {bob admin}] [{Ann member} {bob admin}] [{one viewer} {two member}]" {
		t.Error(got)
	}
	one, two := storetest.Must[int64](t)(l.now().FindProjectID(ctx, "one")), storetest.Must[int64](t)(l.now().FindProjectID(ctx, "two"))
	if got, want := l.mayAs(ann.ID, 0), fmt.Sprintf("Ann server false map[%d:viewer %d:member]", one, two); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	set("one", "ann", "")
	if got := all(); got != "[{bob admin}] [{Ann member} {bob admin}] [{two member}]" {
		t.Error(got)
	}
	if got := l.text(`select string_agg(before::text || ' ' || after::text, '; ' order by id) from project_audit a where action = 'member'
		and project_id = ` + fmt.Sprint(one)); got != `{"user": "Ann"} {"role": "viewer", "user": "Ann"}; `+
		`{"role": "viewer", "user": "Ann"} {"role": "", "user": "Ann"}` {
		t.Error(got)
	}
	for _, names := range [][2]string{{"three", "ann"}, {"one", "nobody"}} {
		if err := accountstore.UpdateMember(ctx, l.Store, names[0], names[1], accounts.Viewer, "root"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%v: %v", names, err)
		}
	}
	e := storetest.Must[store.Evidence](t)(l.CreateEvidence(ctx,
		leaks.UploadTarget{Project: "two", Build: "1", Scenario: "s", Run: "1"},
		store.Evidence{Name: "a.txt", SHA256: "a", Bytes: 9, Kind: "umdh"}))
	if got := storetest.Must[int64](t)(l.now().FindProjectOfRun(ctx, e.RunID)); got != two {
		t.Errorf("the run is of project %d", got)
	}
	if err := l.CreateProject(ctx, "one", 0, "root"); complaintOf(err) != "project" {
		t.Errorf("a second project of the name: %v", err)
	}
}

// A link of a user replaces that user's earlier one and nobody else's, is good once and for a time.
func TestLinks(t *testing.T) {
	l := accounted(t)
	ctx := t.Context()
	l.addUser("ann", false)
	l.addUser("bob", false)
	owner := func(link accounts.Secret) string {
		t.Helper()
		name, err := accountstore.FindLinkOwner(ctx, l.now(), link.Digest)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return "none"
		case err != nil:
			t.Fatal(err)
		}
		return name
	}
	var links [4]accounts.Secret
	for i, name := range []string{"ann", "bob", "ANN"} {
		links[i] = accounts.NewLink()
		if err := accountstore.CreateUserLink(ctx, l.Store, links[i], name, "root"); err != nil {
			t.Fatal(err)
		}
	}
	links[3] = accounts.NewLink()
	if err := accountstore.CreateSetupLink(ctx, l.Store, links[3], "root"); err != nil {
		t.Fatal(err)
	}
	owners := func() string {
		return strings.Join([]string{owner(links[0]), owner(links[1]), owner(links[2]), owner(links[3])}, ",")
	}
	if got := owners(); got != "none,bob,ann," {
		t.Errorf("links are of %s", got)
	}
	u := storetest.Must[accountstore.User](t)(accountstore.UseLink(ctx, l.Store, links[2].Digest, "other", "new"))
	if u.Name != "ann" || u.PasswordHash != "new" || u.Epoch != 1 || l.user("bob").PasswordHash != "" {
		t.Errorf("%+v", u)
	}
	if _, err := accountstore.UseLink(ctx, l.Store, links[2].Digest, "", "again"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a link is good twice: %v", err)
	}
	l.sql(`update account_links set expires_at = now() - interval '1 second' where digest = $1`, links[1].Digest)
	if _, err := accountstore.UseLink(ctx, l.Store, links[1].Digest, "", "late"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a link is good after its end: %v", err)
	}
	if got := owners(); got != "none,none,none," {
		t.Errorf("links are of %s", got)
	}
	locked := accounts.NewLink()
	if err := errors.Join(accountstore.CreateUserLink(ctx, l.Store, locked, "bob", "root"), accountstore.UpdateUserLocked(ctx, l.Store, "bob", true, "root")); err != nil {
		t.Fatal(err)
	}
	if _, err := accountstore.UseLink(ctx, l.Store, locked.Digest, "", "x"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a locked user chooses a password: %v", err)
	}
	second := storetest.Must[accountstore.User](t)(accountstore.UseLink(ctx, l.Store, links[3].Digest, "second", "hash"))
	if !second.Admin {
		t.Errorf("%+v", second)
	}
	if err := accountstore.CreateUserLink(ctx, l.Store, accounts.NewLink(), "nobody", "root"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a link for nobody: %v", err)
	}
}

// The first account owns the projects that are there; a second one that a link opens owns none, and other links of
// before stay good only where they are a user's.
func TestFirstAccountOwnsProjects(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	if err := l.CreateProject(ctx, "old", 0, ""); err != nil {
		t.Fatal(err)
	}
	first, other := accounts.NewLink(), accounts.NewLink()
	if err := errors.Join(accountstore.CreateSetupLink(ctx, l.Store, first, "x"), accountstore.CreateSetupLink(ctx, l.Store, other, "x")); err != nil {
		t.Fatal(err)
	}
	root := storetest.Must[accountstore.User](t)(accountstore.UseLink(ctx, l.Store, first.Digest, "root", "hash"))
	if roles := storetest.Must[[]accountstore.RoleIn](t)(accountstore.ListRoles(ctx, l.now(), root.ID)); fmt.Sprint(roles) != "[{old admin}]" {
		t.Errorf("%v", roles)
	}
	if _, err := accountstore.UseLink(ctx, l.Store, other.Digest, "second", "hash"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a link of before opens a second account: %v", err)
	}
	later := accounts.NewLink()
	if err := accountstore.CreateSetupLink(ctx, l.Store, later, "root"); err != nil {
		t.Fatal(err)
	}
	second := storetest.Must[accountstore.User](t)(accountstore.UseLink(ctx, l.Store, later.Digest, "second", "hash"))
	if roles := storetest.Must[[]accountstore.RoleIn](t)(accountstore.ListRoles(ctx, l.now(), second.ID)); len(roles) > 0 {
		t.Errorf("%v", roles)
	}
}

// Failures count by name, by client and by both, for a time; a log-in forgets those of its name and client.
func TestTryLogIn(t *testing.T) {
	l := accounted(t)
	ctx := t.Context()
	bound := accounts.Throttle{Within: time.Hour, MostPerPair: 2, MostPerClient: 3, MostPerUserName: 4}
	try := func(name, client string) bool {
		t.Helper()
		return storetest.Must[bool](t)(accountstore.TryLogIn(ctx, l.Store, accountstore.LogIn{Name: name, Client: client}, bound))
	}
	for i, step := range []struct {
		name, client string
		may          bool
	}{
		{"Root", "a", true}, {"root", "a", true}, {"ROOT", "a", false}, // twice by name and client
		{"x", "a", true}, {"y", "a", false}, // three times by client
		{"root", "b", true}, {"root", "c", true}, {"root", "d", false}, // four times by name
		{"z", "d", true},
	} {
		if may := try(step.name, step.client); may != step.may {
			t.Errorf("try %d, %s from %s: %t", i, step.name, step.client, may)
		}
	}
	root := l.user("root")
	l.sql(`insert into sessions (token, data, expiry) values ('over', '', now() - interval '1 second'), ('good', '', now() + interval '1 hour')`)
	if err := accountstore.CompleteLogIn(ctx, l.Store, &root, accountstore.LogIn{Name: "root", Client: "a"}, []byte("device")); err != nil {
		t.Fatal(err)
	}
	if got := l.text(`select string_agg(name || client, ' ' order by name, client) from failed_log_ins`); got != "rootb rootc xa zd" {
		t.Errorf("failures left: %s", got)
	}
	if got := l.text(`select string_agg(token, ' ') from sessions`); got != "good" {
		t.Errorf("sessions left: %s", got)
	}
	if l.addUser("ann", false).LoggedInAt != nil || l.user("ann").LoggedInAt != nil || l.user("root").LoggedInAt == nil {
		t.Error("somebody else has logged in")
	}
	l.sql(`update failed_log_ins set at = now() - interval '61 minutes' where client in ('b', 'd')`)
	if !try("root", "e") || l.text(`select string_agg(name || client, ' ' order by name, client) from failed_log_ins`) !=
		"rootc roote xa" {
		t.Error("failures of long ago count, or others are forgotten")
	}
	long := strings.Repeat("n", 600)
	if !try(long, "f") || !try(long+"more", "f") || try(long[:512], "f") {
		t.Error("names of more than 512 bytes are not counted by those")
	}
}

// A browser that a user has logged in with counts its own failures only, for this user alone, and as long as it is
// known.
func TestKnownDevices(t *testing.T) {
	l := accounted(t)
	ctx := t.Context()
	l.addUser("ann", false)
	bound := accounts.Throttle{Within: time.Hour, MostPerPair: 2, MostPerClient: 3, MostPerUserName: 4}
	try := func(name, client, device string) bool {
		t.Helper()
		in := accountstore.LogIn{Name: name, Client: client, Device: []byte(device)}
		return storetest.Must[bool](t)(accountstore.TryLogIn(ctx, l.Store, in, bound))
	}
	complete := func(name, before, after string) {
		t.Helper()
		u := l.user(name)
		in := accountstore.LogIn{Name: name, Client: "home", Device: []byte(before)}
		if err := accountstore.CompleteLogIn(ctx, l.Store, &u, in, []byte(after)); err != nil {
			t.Fatal(err)
		}
	}
	complete("root", "", "first")
	for i := range 5 {
		try("root", fmt.Sprint("stranger ", i), "")
	}
	for i, step := range []struct {
		name, client, device string
		may                  bool
	}{
		{"root", "home", "", false},                                                                             // locked out by strangers
		{"root", "home", "unknown", false},                                                                      // a secret that somebody has made up
		{"ROOT", "home", "first", true}, {"root", "elsewhere", "first", true}, {"root", "home", "first", false}, // its own two
		{"x", "office", "", true}, {"y", "office", "", true}, {"z", "office", "", true},
		{"ann", "office", "first", false}, // which is not ann's
	} {
		if may := try(step.name, step.client, step.device); may != step.may {
			t.Errorf("try %d, %+v: %t", i, step, may)
		}
	}
	complete("root", "first", "second")
	if try("root", "home", "first") || !try("root", "home", "second") {
		t.Error("the secret of before is known, or the new one is not")
	}
	l.sql(`delete from failed_log_ins where client like 'device%'; update known_devices set used_at = now() - interval '180 days' + interval '1 minute'`)
	if !try("root", "home", "second") {
		t.Error("a browser of less than 180 days ago is not known")
	}
	l.sql(`update known_devices set used_at = now() - interval '180 days'`)
	if try("root", "home", "second") {
		t.Error("a browser of 180 days ago is known")
	}
	for i := range 22 {
		complete("root", "", fmt.Sprintf("device %02d", i))
	}
	complete("ann", "", "of ann")
	if got := l.text(`select count(*) || ' ' || min(convert_from(digest, 'UTF8')) from known_devices where user_id = (select id from users where name = 'root')`); got != "20 device 02" {
		t.Errorf("known are %s", got)
	}
	if got := l.text(`select count(*)::text from known_devices`); got != "21" {
		t.Errorf("%s browsers of all", got)
	}
}

// The audit of the server is read newest first, from a row on, in pages.
func TestServerAudit(t *testing.T) {
	l := accounted(t)
	ctx := t.Context()
	l.sql(`delete from server_audit`)
	for _, name := range []string{"a1", "a2", "a3", "a4"} {
		l.addUser(name, false)
	}
	page := func(q store.AuditPage) (text string, last int64) {
		t.Helper()
		for _, r := range storetest.Must[[]store.AuditRow](t)(l.now().ListServerChanges(ctx, q)) {
			var after struct{ User string }
			if err := json.Unmarshal(r.After, &after); err != nil {
				t.Fatal(err)
			}
			text, last = text+after.User+" ", r.ID
		}
		return strings.TrimSpace(text), last
	}
	if got, _ := page(store.AuditPage{Limit: 10}); got != "a4 a3 a2 a1" {
		t.Error(got)
	}
	got, last := page(store.AuditPage{Limit: 2})
	if got != "a4 a3" {
		t.Error(got)
	}
	if got, _ := page(store.AuditPage{Limit: 10, AfterID: last}); got != "a2 a1" {
		t.Error(got)
	}
	if got, _ := page(store.AuditPage{Limit: 1, Offset: 1, AfterID: last}); got != "a1" {
		t.Error(got)
	}
}
