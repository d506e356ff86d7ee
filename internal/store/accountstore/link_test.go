package accountstore_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/internal/store/storetest"
)

// If several links for the first account are used at once, one of them opens it and the others become invalid.
func TestFirstLinksAtOnce(t *testing.T) {
	s, _ := storetest.Open(t)
	const many = 6
	links := make([]accounts.Secret, many)
	for i := range links {
		links[i] = accounts.NewLink()
		if err := accountstore.CreateSetupLink(t.Context(), s, links[i], "test"); err != nil {
			t.Fatal(err)
		}
	}
	failures := make([]error, many)
	var all sync.WaitGroup
	for i := range links {
		all.Go(func() {
			_, failures[i] = accountstore.UseLink(t.Context(), s, links[i].Digest, fmt.Sprintf("admin %d", i), "hash")
		})
	}
	all.Wait()
	opened := 0
	for _, err := range failures {
		switch {
		case err == nil:
			opened++
		case !errors.Is(err, store.ErrNotFound):
			t.Error(err)
		}
	}
	if opened != 1 {
		t.Errorf("%d accounts are opened", opened)
	}
}
