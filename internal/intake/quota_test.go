package intake_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"heapdrift/internal/accounts"
	"heapdrift/internal/blob"
	"heapdrift/internal/intake"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/accountstore"
)

// token makes a token for the project shop, and returns it with a context of requests that come with it.
func (d *door) token() (as context.Context, token int64) {
	d.t.Helper()
	ctx := d.t.Context()
	if err := d.Store.CreateProject(ctx, "shop", 0, "test"); err != nil {
		d.t.Fatal(err)
	}
	secret, prefix := accounts.NewToken()
	made, err := accountstore.CreateToken(ctx, d.Store, "shop",
		&accountstore.Token{Name: "ci", Prefix: prefix, Scopes: accounts.Scopes(), CreatedBy: "test"}, secret)
	if err != nil {
		d.t.Fatal(err)
	}
	return accounts.WithActor(ctx, &accounts.Actor{TokenID: made.ID}), made.ID
}

// A token may send as many bytes as its quota and no byte more. Requests without a token have no quota.
func TestRoomOfAToken(t *testing.T) {
	d := open(t)
	ctx := t.Context()
	as, _ := d.token()
	in := d.Intake
	in.TokenQuota = 1000
	for i, want := range []struct {
		bytes int64
		fits  bool
	}{{999, true}, {1000, true}, {1001, false}} {
		var quota *intake.QuotaError
		if err := in.CheckQuota(as, want.bytes); errors.As(err, &quota) == want.fits {
			t.Errorf("%d: %d bytes: %v", i, want.bytes, err)
		}
	}
	if _, err := in.ReserveQuota(as, 400); err != nil {
		t.Fatal(err)
	}
	if in.CheckQuota(as, 600) != nil || in.CheckQuota(as, 601) == nil || in.CheckQuota(ctx, 1<<40) != nil {
		t.Error("what was sent before does not count, or counts for others")
	}
}

// Every file that is taken in counts for the token that it came with, where tokens have a quota; a refused one does
// not. Taken hears of all.
func TestWhatATokenHasSent(t *testing.T) {
	d := open(t)
	ctx := t.Context()
	as, token := d.token()
	var taken int64
	d.Taken = func(bytes int64) { taken += bytes }
	wantTaken, wantSent := int64(0), int64(0)
	for _, test := range []struct {
		name  string
		ctx   context.Context
		quota int64
		body  string
		taken bool
		count bool
	}{
		{"no quota", as, 0, log, true, false},
		{"no token", ctx, 1 << 20, log + "1", true, false},
		{"token and quota", as, 1 << 20, log + "22", true, true},
		{"another file", as, 1 << 20, log + "333", true, true},
		{"no evidence", as, 1 << 20, "what is this?", false, false},
	} {
		d.TokenQuota = test.quota
		_, err := d.Accept(test.ctx, leaks.UploadTarget{Project: "shop", Build: "1", Scenario: "s", Run: "r"}, "a.txt",
			strings.NewReader(test.body))
		if (err == nil) != test.taken {
			t.Fatalf("%s: %v", test.name, err)
		}
		if test.taken {
			wantTaken += int64(len(test.body))
		}
		if test.count {
			wantSent += int64(len(test.body))
		}
		sent, _, err := accountstore.FindTokenTraffic(ctx, d.Store, token)
		if err != nil || sent != wantSent || taken != wantTaken {
			t.Errorf("%s: %d bytes of the token, want %d; %d taken, want %d; %v", test.name, sent, wantSent, taken, wantTaken, err)
		}
	}
}

// A file whose length nobody says is refused while it comes, as soon as the token has sent enough, and leaves nothing.
func TestQuotaOfAStream(t *testing.T) {
	d := open(t)
	as, _ := d.token()
	d.TokenQuota, d.MaxBytes = 1<<20, 0
	endless := &zeros{}
	_, err := d.Accept(as,
		leaks.UploadTarget{Project: "shop", Build: "1", Scenario: "s", Run: "r"}, "a.txt", endless)
	var quota *intake.QuotaError
	if !errors.As(err, &quota) || len(d.keys()) != 0 || endless.read > 128<<20 {
		t.Errorf("%v after %d bytes, blobs %v", err, endless.read, d.keys())
	}
}

// zeros never end.
type zeros struct{ read int64 }

func (z *zeros) Read(p []byte) (int, error) {
	clear(p)
	z.read += int64(len(p))
	return len(p), nil
}

// The disk keeps MinFree bytes free.
func TestRoomOfTheDisk(t *testing.T) {
	d := open(t)
	in := d.Intake
	free, known := blob.FreeBytes(in.Blobs)
	if !known {
		t.Skip("the system does not say what is free")
	}
	in.MinFree = free / 2 // far from what others write meanwhile
	if err := in.CheckQuota(t.Context(), free/4); err != nil {
		t.Errorf("half of what may be taken: %v", err)
	}
	if err := in.CheckQuota(t.Context(), free); !errors.Is(err, intake.ErrNoSpace) {
		t.Errorf("all of the disk: %v", err)
	}
	in.MinFree = 0
	if err := in.CheckQuota(t.Context(), 1<<62); err != nil {
		t.Errorf("nothing is kept free: %v", err)
	}
}
