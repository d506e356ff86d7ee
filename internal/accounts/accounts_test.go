package accounts_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
)

var rights = []accounts.Right{accounts.Decide, accounts.Read, accounts.Upload, accounts.Change, accounts.Manage}

// Each line names an actor and marks, from the weakest right to the strongest, what the actor may do in project 1: y
// for yes, - for no.
func TestMay(t *testing.T) {
	role := func(r accounts.Role) accounts.Actor {
		return accounts.Actor{UserID: 7, Name: "ada", RoleByProject: map[int64]accounts.Role{1: r}}
	}
	token := func(scopes ...accounts.Scope) accounts.Actor { return accounts.OfToken(3, "ci", 1, scopes) }
	elsewhere := accounts.Actor{UserID: 7, RoleByProject: map[int64]accounts.Role{2: accounts.Admin}}
	for _, c := range []struct {
		who   string
		actor accounts.Actor
		want  string
	}{
		{"nobody", accounts.Actor{}, "-----"},
		{"viewer", role(accounts.Viewer), "yy---"},
		{"member", role(accounts.Member), "yyyy-"},
		{"admin", role(accounts.Admin), "yyyyy"},
		{"a role that nobody knows", role("owner"), "-----"},
		{"admin of another project", elsewhere, "-----"},
		{"server", accounts.Actor{UserID: 7, Server: true}, "yyyyy"},
		{"open", accounts.Actor{Open: true}, "yyyyy"},
		{"upload", token(accounts.ScopeUpload), "y-y--"},
		{"read", token(accounts.ScopeRead), "yy---"},
		{"upload and read", token(accounts.ScopeUpload, accounts.ScopeRead), "yyy--"},
		{"admin token", token(accounts.ScopeAdmin), "yyyyy"},
		{"token of another project", accounts.OfToken(3, "ci", 2, []accounts.Scope{accounts.ScopeAdmin}), "-----"},
		{"roles without a user", accounts.Actor{RoleByProject: map[int64]accounts.Role{1: accounts.Admin}}, "-----"},
	} {
		got, somewhere := "", ""
		for _, r := range rights {
			got += map[bool]string{true: "y", false: "-"}[c.actor.May(r, 1)]
			somewhere += map[bool]string{true: "y", false: "-"}[c.actor.MaySomewhere(r)]
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.who, got, c.want)
		}
		if !strings.Contains(c.who, "another") && somewhere != c.want {
			t.Errorf("%s somewhere: %s, want %s", c.who, somewhere, c.want)
		}
		if c.actor.MaySee(1) != strings.HasPrefix(c.want, "y") {
			t.Errorf("%s sees the project: %t", c.who, c.actor.MaySee(1))
		}
	}
}

// A name in an audit is verified if it is the name of the user who acts, and heapdrift knows the user.
func TestVerified(t *testing.T) {
	ada := accounts.WithActor(t.Context(), &accounts.Actor{Name: "ada", UserID: 7})
	open := accounts.WithActor(t.Context(), &accounts.Actor{Open: true})
	for _, c := range []struct {
		ctx  context.Context
		name string
		want bool
	}{{ada, "ada", true}, {ada, "bob", false}, {open, "ada", false}, {open, "", false}, {t.Context(), "", false}} {
		if got := accounts.IsVerified(c.ctx, c.name); got != c.want {
			t.Errorf("%q: %t", c.name, got)
		}
	}
}

func TestTokens(t *testing.T) {
	token, prefix := accounts.NewToken()
	other, _ := accounts.NewToken()
	digest, ok := accounts.TokenDigest(token.Text)
	if !ok || string(digest) != string(token.Digest) || token.Text == other.Text ||
		!strings.HasPrefix(token.Text, prefix) || !strings.HasPrefix(prefix, "hd_") {
		t.Errorf("%q %q %t", token.Text, prefix, ok)
	}
	for i := range token.Text { // a slip of the keyboard is no token
		slip := token.Text[:i] + "!" + token.Text[i+1:]
		if _, ok := accounts.TokenDigest(slip); ok {
			t.Errorf("%q is taken", slip)
		}
		if _, ok := accounts.TokenDigest(token.Text[:i]); ok {
			t.Errorf("%q is taken", token.Text[:i])
		}
	}
	link := accounts.NewLink()
	if digest, ok := accounts.LinkDigest(link.Text); !ok || string(digest) != string(link.Digest) {
		t.Error("a link is not known by its digest")
	}
	for _, text := range []string{"", "x", link.Text + "x", token.Text} {
		if _, ok := accounts.LinkDigest(text); ok {
			t.Errorf("%q is taken for a link", text)
		}
	}
}

func TestPasswords(t *testing.T) {
	ctx := t.Context()
	const password = "correct horse"
	hash, err := accounts.HashPassword(ctx, password)
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Fatal(hash, err)
	}
	if again, _ := accounts.HashPassword(ctx, password); again == hash {
		t.Error("two hashes of one password are the same: there is no salt")
	}
	for _, c := range []struct {
		hash, password string
		want           bool
	}{
		{hash, password, true}, {hash, password + " ", false}, {hash, "", false}, {"", "", false}, {"", password, false},
		{hash, strings.Repeat("x", 1<<20), false},
	} {
		if is, err := accounts.VerifyPassword(ctx, c.hash, c.password); is != c.want || err != nil {
			t.Errorf("%.20q against %.20q: %t, %v", c.password, c.hash, is, err)
		}
	}
	var field *leaks.FieldError
	for _, short := range []string{"", "123456789", strings.Repeat("x", 1025)} {
		if _, err := accounts.HashPassword(ctx, short); !errors.As(err, &field) || field.Field != "password" {
			t.Errorf("%.12q: %v", short, err)
		}
	}
	for _, broken := range []string{"x", "$argon2id$v=19$m=19456,t=2,p=1$AA$AA",
		"$argon2id$v=19$m=99999999,t=2,p=1$AAAA$AAAAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=1,t=0,p=0$AAAA$AAAAAAAAAAAAAAAAAAAAAAAA", "$2a$10$x"} {
		if is, err := accounts.VerifyPassword(ctx, broken, password); is || err == nil {
			t.Errorf("%s: %t, %v", broken, is, err)
		}
	}
	for _, longEnough := range []string{"1234567890", "zehn Zeich", strings.Repeat("x", 1024)} {
		if err := accounts.CheckPassword(longEnough); err != nil {
			t.Errorf("%.12q: %v", longEnough, err)
		}
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	for range 100 { // both slots may be free: then either is right
		if _, err := accounts.HashPassword(gone, password); errors.Is(err, context.Canceled) {
			return
		}
	}
	t.Error("who has gone is hashed for")
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{
		"ada": true, "Ada Kirsch": true, "ada@shop.example": true, "Zoë": true, "7of9": true,
		"": false, " ada": false, "somebody": false, "SomeBody": false, "token ci": false, "Token x": false,
		"a\nb": false, "<b>": false,
		strings.Repeat("x", 64): true, strings.Repeat("x", 65): false, "a\u202eb": false,
	} {
		if got := accounts.CheckUserName(name) == nil; got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
	if accounts.CheckTokenName("jenkins/nightly #1") != nil || accounts.CheckTokenName("") == nil {
		t.Error("names of tokens")
	}
}

func TestScopesOf(t *testing.T) {
	for text, want := range map[string]string{"upload": "[upload]", "read,upload,read": "[read upload]", "": "",
		"root": "", "upload,": ""} {
		scopes, err := accounts.ScopesOf(strings.Split(text, ","))
		if got := fmt.Sprint(scopes); want != "" && (got != want || err != nil) || want == "" && err == nil {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	for text, want := range map[string]bool{"viewer": true, "member": true, "admin": true, "": false, "owner": false} {
		if _, err := accounts.RoleOf(text); (err == nil) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestThrottle(t *testing.T) {
	for f, want := range map[accounts.Failures]bool{
		{}: false, {ByPair: 9, ByClient: 9, ByUserName: 9}: false, {ByPair: 10}: true, {ByClient: 50}: true, {ByUserName: 100}: true,
		{ByClient: 49, ByUserName: 99}: false,
	} {
		if got := accounts.LogIns.Refuses(f); got != want {
			t.Errorf("%+v: %t", f, got)
		}
	}
}

// A member may upload, and may not decide who else may.
func ExampleActor_May() {
	a := accounts.Actor{Name: "ada", UserID: 7, RoleByProject: map[int64]accounts.Role{1: accounts.Member}}
	fmt.Println(a.May(accounts.Upload, 1), a.May(accounts.Manage, 1), a.May(accounts.Read, 2))
	// Output: true false false
}
