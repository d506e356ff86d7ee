package api

import (
	"context"
	"errors"
	"time"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/store/uploadstore"
)

// SweepUploads deletes the uploads that were not written to for age, with their parts, and returns how many it deleted.
// It leaves those that another request is writing to. Several nodes may sweep at once.
func (a *API) SweepUploads(ctx context.Context, age time.Duration) (int, error) {
	swept := 0
	for {
		stale, err := store.Read(ctx, a.store, func(v store.View) ([]uploadstore.Upload, error) {
			return uploadstore.ListStaleUploads(ctx, v, age)
		})
		if err != nil {
			return swept, err
		}
		before := swept
		for _, u := range stale {
			switch err := a.terminate(ctx, u.ID, &u); {
			case err == nil:
				swept++
			case !errors.Is(err, store.ErrNotFound) && !errors.Is(err, uploadstore.ErrBusy):
				return swept, err
			}
		}
		if swept == before { // none left, or only such as somebody writes to
			return swept, nil
		}
	}
}

// terminate deletes an upload and its parts under its lock: store.ErrNotFound where there is none, store.ErrBusy
// where somebody writes to it or it has moved on from what the caller saw.
func (a *API) terminate(ctx context.Context, id string, seen *uploadstore.Upload) error {
	leave, err := a.finishing.Enter(ctx, holderOf(accounts.ActorFrom(ctx)))
	if err != nil {
		return err
	}
	defer leave()
	locked, err := uploadstore.LockUpload(ctx, a.store, id)
	if err != nil {
		return err
	}
	defer locked.Release(ctx)
	if seen != nil && offsetOf(locked.Upload) != offsetOf(*seen) {
		return uploadstore.ErrBusy
	}
	return a.forget(ctx, &locked.Upload)
}

// forget deletes the parts first and the row after them: parts without a row would never be found again. Beside the
// recorded parts there may be one that a failure kept from being recorded.
func (a *API) forget(ctx context.Context, u *uploadstore.Upload) error {
	if err := a.deleteParts(ctx, u.ID, u.Parts+1); err != nil {
		return err
	}
	return uploadstore.DeleteUpload(ctx, a.store, u.ID)
}
