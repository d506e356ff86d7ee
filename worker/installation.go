package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"heapdrift/internal/blob"
)

// installationKey is the blob that holds the ID of the installation whose rows refer to the blobs.
const installationKey = "installation"

// maxInstallationID is how many bytes of that blob are read: more than an ID has.
const maxInstallationID = 100

// ErrForeignBlobs says that the blob store belongs to another installation, so that nothing of it is deleted: no row of
// this database refers to what the rows of the other one may need.
var ErrForeignBlobs = errors.New("the blob store belongs to another database, or this database is new or restored: " +
	"nothing is deleted. If no other server uses the store, run heapdrift sweep --claim")

// checkInstallation returns ErrForeignBlobs unless the blob store belongs to the installation of the database. A store
// without an ID gets that of a database whose rows refer to content, or of any where there is no content.
func (k *Retention) checkInstallation(ctx context.Context) error {
	own, err := k.Store.FindInstallation(ctx)
	if err != nil {
		return err
	}
	kept, err := k.installationOfBlobs(ctx)
	switch {
	case err != nil:
		return err
	case kept == own.ID:
		return nil
	case kept != "":
		return ErrForeignBlobs
	}
	if !own.NamesContent {
		for _, err := range k.Blobs.List(ctx, contentPrefix) {
			if err != nil {
				return fmt.Errorf("worker: list blobs: %w", err)
			}
			return ErrForeignBlobs
		}
	}
	return k.Claim(ctx)
}

// Claim makes the blob store part of the installation of the database, whatever installation it belonged to.
func (k *Retention) Claim(ctx context.Context) error {
	own, err := k.Store.FindInstallation(ctx)
	if err != nil {
		return err
	}
	if _, err := k.Blobs.Put(ctx, installationKey, strings.NewReader(own.ID)); err != nil {
		return fmt.Errorf("worker: mark the blob store: %w", err)
	}
	return nil
}

// installationOfBlobs is the ID that the blob store keeps, "" for none.
func (k *Retention) installationOfBlobs(ctx context.Context) (string, error) {
	r, err := k.Blobs.Open(ctx, installationKey)
	if errors.Is(err, blob.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("worker: installation of the blob store: %w", err)
	}
	defer func() { _ = r.Close() }() // read only
	text, err := io.ReadAll(io.NewSectionReader(r, 0, min(r.Size(), maxInstallationID)))
	if err != nil {
		return "", fmt.Errorf("worker: installation of the blob store: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}
