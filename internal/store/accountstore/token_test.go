package accountstore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/internal/store/storetest"
)

// addToken makes a token of the project and returns its id and its digest.
func (l *lab) addToken(name string, ends *time.Time) (id int64, digest []byte) {
	l.Helper()
	secret, prefix := accounts.NewToken()
	t := storetest.Must[accountstore.Token](l)(accountstore.CreateToken(l.Context(), l.Store, "demo",
		&accountstore.Token{Name: name, Prefix: prefix, Scopes: accounts.Scopes(), CreatedBy: "test", ExpiresAt: ends},
		secret))
	return t.ID, secret.Digest
}

// A token's quota is for a day in UTC: what it sent on other days does not count, nor what other tokens sent.
func TestSentToday(t *testing.T) {
	l := newLab(t)
	if err := l.CreateProject(t.Context(), "demo", 0, "test"); err != nil {
		t.Fatal(err)
	}
	one, _ := l.addToken("one", nil)
	other, _ := l.addToken("other", nil)
	sent := func() (bytes int64) {
		t.Helper()
		bytes, until, err := accountstore.FindTokenTraffic(t.Context(), l.Store, one)
		if now := time.Now().UTC(); err != nil || until.Sub(now) > 24*time.Hour || !until.After(now) ||
			!until.Equal(until.UTC().Truncate(24*time.Hour)) {
			t.Errorf("until %v, %v", until, err)
		}
		return bytes
	}
	if got := sent(); got != 0 {
		t.Errorf("%d bytes before anything was sent", got)
	}
	for token, bytes := range map[int64]int64{one: 400, other: 30} {
		if _, err := accountstore.ReserveTraffic(t.Context(), l.Store, token, bytes, 1000); err != nil {
			t.Fatal(err)
		}
	}
	l.sql(`insert into token_days (token_id, day, bytes) select $1, (now() at time zone 'UTC')::date + d, 7000 from unnest(array[-1, 1]) d`, one)
	if got := sent(); got != 400 {
		t.Errorf("%d bytes, want those of today", got)
	}
	if _, err := accountstore.ReserveTraffic(t.Context(), l.Store, one, 601, 1000); !errors.Is(err, accountstore.ErrTraffic) {
		t.Errorf("a byte more than the quota: %v", err)
	}
	rest, err := accountstore.ReserveTraffic(t.Context(), l.Store, one, 600, 1000)
	if got := sent(); got != 1000 || err != nil {
		t.Errorf("%d bytes, want all of the quota: %v", got, err)
	}
	if _, err := accountstore.ReserveTraffic(t.Context(), l.Store, 0, 1001, 1000); !errors.Is(err, accountstore.ErrTraffic) {
		t.Errorf("the first bytes of a day are more than the quota: %v", err)
	}
	if err := accountstore.ReleaseTraffic(t.Context(), l.Store, rest, 5); err != nil || sent() != 405 {
		t.Errorf("%d bytes, want both without what was given back: %v", sent(), err)
	}
}

// A reservation ends with its server: a minute after its last sign of life, what it had reserved is free again. A server
// that was only slow counts then what has come.
func TestReservationsOfLostServers(t *testing.T) {
	l := newLab(t)
	if err := l.CreateProject(t.Context(), "demo", 0, "test"); err != nil {
		t.Fatal(err)
	}
	one, _ := l.addToken("one", nil)
	other, _ := l.addToken("other", nil)
	l.NodeID = "front"
	if err := l.UpdateNode(t.Context(), store.Node{ID: "front", Role: "serve"}); err != nil {
		t.Fatal(err)
	}
	reserve := func(token, bytes int64) (store.Traffic, error) {
		return accountstore.ReserveTraffic(t.Context(), l.Store, token, bytes, 1000)
	}
	lost := storetest.Must[store.Traffic](t)(reserve(one, 600))
	storetest.Must[store.Traffic](t)(reserve(one, 400))
	storetest.Must[store.Traffic](t)(reserve(other, 1000))
	for _, test := range []struct {
		name         string
		reserved     string // how long ago
		seen         string // how long ago the server was seen; "" for never
		first, isEnd bool   // the reservation of 600 bytes alone is that old; it ends
	}{
		{"new", "0 s", "2 min", false, false}, {"seen just now", "2 min", "0 s", false, false},
		{"seen in time", "2 min", "59 s", false, false}, {"not a minute old", "59 s", "", false, false},
		{"not seen", "2 min", "61 s", true, true}, {"forgotten", "61 s", "", false, true},
	} {
		l.sql(`update token_reservations set at = now()`)
		l.sql(`update token_reservations set at = now() - $1::text::interval where not $2 or bytes = 600`, test.reserved, test.first)
		if l.sql(`delete from nodes`); test.seen != "" {
			l.sql(`insert into nodes (id, role, host, version, schema, seen_at) values ('front', 'serve', '', '', 1, now() - $1::text::interval)`, test.seen)
		}
		want := map[bool]int64{true: 0, false: 1000}[test.isEnd]
		if test.first {
			want = 400
		}
		if bytes, _, err := accountstore.FindTokenTraffic(t.Context(), l.Store, one); err != nil || bytes != want {
			t.Errorf("%s: %d bytes, want %d; %v", test.name, bytes, want, err)
		}
	}
	if got := l.text(`select string_agg(token_id || ' ' || bytes, ', ') from token_reservations`); got != fmt.Sprintf("%d 1000", other) {
		t.Errorf("reservations of %s", got)
	}
	if next, err := reserve(one, 1000); err != nil || accountstore.ReleaseTraffic(t.Context(), l.Store, next, 700) != nil {
		t.Errorf("the quota is free again: %v", err)
	}
	if err := accountstore.ReleaseTraffic(t.Context(), l.Store, lost, 100); err != nil {
		t.Error(err)
	}
	if bytes, _, err := accountstore.FindTokenTraffic(t.Context(), l.Store, one); err != nil || bytes != 800 {
		t.Errorf("%d bytes after a slow server has ended its request, want 800; %v", bytes, err)
	}
	if _, err := reserve(other, 1); err != nil { // the server is forgotten
		t.Errorf("the other token has reserved nothing any more: %v", err)
	}
	if err := accountstore.ReleaseTraffic(t.Context(), l.Store, store.Traffic{}, 0); err != nil {
		t.Error(err)
	}
}

// A token lets in while it is known, not revoked and not past its end.
func TestTokenActor(t *testing.T) {
	l := newLab(t)
	if err := l.CreateProject(t.Context(), "demo", 0, "test"); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	forever, always := l.addToken("forever", nil)
	ending, ends := l.addToken("ending", &later)
	gone, revoked := l.addToken("gone", nil)
	if err := accountstore.RevokeToken(t.Context(), l.Store, "demo", gone, "test"); err != nil {
		t.Fatal(err)
	}
	may := func(digest []byte) int64 {
		t.Helper()
		a, err := accountstore.FindTokenActor(t.Context(), l.Store, digest)
		if err != nil {
			if !errors.Is(err, store.ErrNotFound) {
				t.Fatal(err)
			}
			return 0
		}
		return a.TokenID
	}
	check := func(what string, digest []byte, want int64) {
		t.Helper()
		if got := may(digest); got != want {
			t.Errorf("%s: token %d lets in, want %d", what, got, want)
		}
	}
	check("without an end", always, forever)
	check("before its end", ends, ending)
	check("revoked", revoked, 0)
	check("unknown", []byte("none"), 0)
	l.sql(`update tokens set expires_at = now() - interval '1 second' where id = $1`, ending)
	check("past its end", ends, 0)
	check("another's end", always, forever)
	// That it was used is noted to the minute, and of this token alone.
	used := func() string {
		t.Helper()
		return l.text(`select string_agg(name, ',' order by id) from tokens where last_used_at > now() - interval '10 seconds'`)
	}
	if got := used(); got != "forever,ending" {
		t.Errorf("used were %s", got)
	}
	l.sql(`update tokens set last_used_at = now() - interval '50 seconds'`)
	if check("soon again", always, forever); l.text(`select count(*) from tokens where last_used_at > now() - interval '10 seconds'`) != "0" {
		t.Error("each use is written down")
	}
	l.sql(`update tokens set last_used_at = now() - interval '70 seconds'`)
	if check("after a minute", always, forever); used() != "forever" {
		t.Errorf("used were %s", used())
	}
}

// A link for an account is good once, and until its end.
func TestLinksEnd(t *testing.T) {
	l := newLab(t)
	link := accounts.NewLink()
	if err := accountstore.CreateSetupLink(t.Context(), l.Store, link, "test"); err != nil {
		t.Fatal(err)
	}
	refused := func(what string) {
		t.Helper()
		if _, err := accountstore.FindLinkOwner(t.Context(), l.now(), link.Digest); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: its page: %v", what, err)
		}
		_, err := accountstore.UseLink(t.Context(), l.Store, link.Digest, "bob", "hash")
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: its use: %v", what, err)
		}
	}
	l.sql(`update account_links set expires_at = now() - interval '1 second'`)
	refused("past its end")
	l.sql(`update account_links set expires_at = now() + interval '1 hour'`)
	if _, err := accountstore.FindLinkOwner(t.Context(), l.now(), link.Digest); err != nil {
		t.Error(err)
	}
	if _, err := accountstore.UseLink(t.Context(), l.Store, link.Digest, "ann", "hash"); err != nil {
		t.Error(err)
	}
	refused("used")
}

// Tokens of a project are listed with those that are good first; one of another project is not revoked, and none ends
// in the past.
func TestTokensOfProjects(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	for _, name := range []string{"demo", "other"} {
		if err := l.CreateProject(ctx, name, 0, ""); err != nil {
			t.Fatal(err)
		}
	}
	first, _ := l.addToken("first", nil)
	l.addToken("second", nil)
	list := func(project string) (text string) {
		t.Helper()
		for _, token := range storetest.Must[[]accountstore.Token](t)(accountstore.ListTokens(ctx, l.now(), project)) {
			text += fmt.Sprintf("%s %t; ", token.Name, token.RevokedAt != nil)
		}
		return text
	}
	if err := accountstore.RevokeToken(ctx, l.Store, "other", first, "ann"); !errors.Is(err, store.ErrNotFound) || list("demo") != "first false; second false; " {
		t.Errorf("a token of another project is revoked: %v, %s", err, list("demo"))
	}
	if err := accountstore.RevokeToken(ctx, l.Store, "demo", first, "ann"); err != nil || list("demo") != "second false; first true; " || list("other") != "" {
		t.Errorf("%v, %s, %s", err, list("demo"), list("other"))
	}
	secret, prefix := accounts.NewToken()
	past := time.Now().Add(-time.Second)
	if _, err := accountstore.CreateToken(ctx, l.Store, "demo", &accountstore.Token{Name: "late", Prefix: prefix, ExpiresAt: &past}, secret); complaintOf(err) != "expires" {
		t.Errorf("a token that has ended: %v", err)
	}
}
