package intake_test

import (
	"errors"
	"testing"

	"heapdrift/internal/accounts"
	"heapdrift/internal/blob"
	"heapdrift/internal/intake"
	"heapdrift/internal/store/accountstore"
)

// A token may send as many bytes as its quota and no byte more. Requests without a token have no quota.
func TestRoomOfAToken(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	d := open(t)
	ctx := t.Context()
	if err := d.Store.CreateProject(ctx, "shop", 0, "test"); err != nil {
		t.Fatal(err)
	}
	secret, prefix := accounts.NewToken()
	token, err := accountstore.CreateToken(ctx, d.Store, "shop",
		&accountstore.Token{Name: "ci", Prefix: prefix, Scopes: accounts.Scopes(), CreatedBy: "test"}, secret)
	if err != nil {
		t.Fatal(err)
	}
	as := accounts.WithActor(ctx, &accounts.Actor{Token: token.ID})
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

// The disk keeps MinFree bytes free.
func TestRoomOfTheDisk(t *testing.T) {
	d := open(t)
	in := d.Intake
	free, known := blob.Free(in.Blobs)
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
