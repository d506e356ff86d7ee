package backup

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"heapdrift/internal/blob"
	"heapdrift/internal/store"
)

// keysName is the name of the list of a backup's blobs below the folder of that backup: one key per line.
const keysName = "blobs"

// Pruned says what Prune has deleted from a place.
type Pruned struct {
	Backups []string // names, the oldest first
	Blobs   int      // that no backup names any more
	Bytes   int64    // of these blobs
	// Foreign are names of backups of other installations, and of backups that are not complete: they stay, and so do all
	// blobs.
	Foreign []string
}

// Prune deletes the backups of an installation in a place but for the newest, and the blobs that no backup names any
// more. At least one backup stays, and so does the one that was just written, whatever clocks say. It returns ErrBusy,
// and deletes nothing, while a backup of the installation is under way. Backups of other installations stay, and with
// them all blobs: one of these may be making another backup. So do all blobs where a backup is not complete. Where a
// backup that stays does not say which blobs it has, and where the place is the installation's own store of blobs,
// nothing is deleted.
func Prune(ctx context.Context, of Installation, in blob.Store, keep int, written string) (p Pruned, err error) {
	release, err := of.Store.LockBlobs(ctx)
	if errors.Is(err, store.ErrConflict) {
		return p, ErrBusy
	}
	if err != nil {
		return p, err
	}
	release = sync.OnceValue(release)
	defer func() { err = errors.Join(err, release()) }()
	own, err := of.Store.FindInstallation(ctx)
	if err != nil {
		return p, err
	}
	keep = max(keep, 1)
	if err := checkPlace(ctx, of, in); err != nil {
		return p, err
	}
	mine, err := p.manifests(ctx, in, own.ID)
	if err != nil || len(mine) <= keep {
		return p, err
	}
	var old []string
	kept := map[contentDigest]bool{}
	for i := range mine {
		if i < len(mine)-keep && mine[i].Name != written {
			old = append(old, mine[i].Name)
		} else if err := addBlobs(ctx, in, &mine[i], kept); err != nil {
			return p, fmt.Errorf("%w: nothing was deleted", err)
		}
	}
	for _, name := range old {
		if err := deleteBackup(ctx, in, name); err != nil {
			return p, err
		}
		p.Backups = append(p.Backups, name)
	}
	if len(p.Foreign) > 0 {
		return p, nil
	}
	return p, p.deleteBlobs(ctx, in, kept)
}

// checkPlace refuses a place that is the installation's own store of blobs, under whatever name.
func checkPlace(ctx context.Context, of Installation, in blob.Store) error {
	key := blob.IncomingKey()
	if _, err := in.Put(ctx, key, strings.NewReader("")); err != nil {
		return err //nolint:wrapcheck // says all
	}
	_, err := of.Blobs.Stat(ctx, key)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		err = nil
	case err == nil:
		err = errors.New("backup: the place is the server's own store of blobs: nothing was deleted; choose another one")
	}
	return errors.Join(err, in.Delete(ctx, key))
}

// manifests reads the manifests of an installation's backups in a place, the oldest first.
func (p *Pruned) manifests(ctx context.Context, in blob.Store, installation string) ([]Manifest, error) {
	complete, others, err := list(ctx, in)
	if err != nil {
		return nil, err
	}
	p.Foreign = others
	var mine []Manifest
	for _, name := range complete {
		m, err := ReadManifest(ctx, in, name)
		if err != nil {
			return nil, fmt.Errorf("%w: nothing was deleted", err)
		}
		if m.Installation != installation {
			p.Foreign = append(p.Foreign, name)
			continue
		}
		mine = append(mine, m)
	}
	return mine, nil
}

// deleteBackup deletes the files of a backup, its manifest first: what is left of an interrupted deletion is no backup.
func deleteBackup(ctx context.Context, in blob.Store, name string) error {
	if err := in.Delete(ctx, manifestKey(name)); err != nil {
		return err //nolint:wrapcheck // says all
	}
	for info, err := range in.List(ctx, folder+name+"/") {
		if err == nil {
			err = in.Delete(ctx, info.Key)
		}
		if err != nil {
			return fmt.Errorf("backup: delete %s: %w", name, err)
		}
	}
	return nil
}

// deleteBlobs deletes the blobs of a place that are not kept.
func (p *Pruned) deleteBlobs(ctx context.Context, in blob.Store, kept map[contentDigest]bool) error {
	for info, err := range in.List(ctx, blob.ContentFolder) {
		if err != nil {
			return fmt.Errorf("backup: list blobs: %w", err)
		}
		digest, ok := digestOfKey(info.Key)
		if !ok || kept[digest] { // what is no blob is not ours
			continue
		}
		if err := in.Delete(ctx, info.Key); err != nil {
			return err //nolint:wrapcheck // says all
		}
		p.Blobs++
		p.Bytes += info.Size
	}
	return nil
}

// A contentDigest is the digest of a blob's content, which its key is made of. A place may have millions.
type contentDigest [sha256.Size]byte

// digestOfKey is the digest in the key of a blob; false for other keys.
func digestOfKey(key string) (d contentDigest, ok bool) {
	sha := key[strings.LastIndexByte(key, '/')+1:]
	n, err := hex.Decode(d[:], []byte(sha[:min(len(sha), 2*len(d))]))
	return d, err == nil && n == len(d) && key == blob.ContentKey(sha)
}

// writeKeys stores the list of the blobs that a backup has.
func writeKeys(ctx context.Context, to blob.Store, m *Manifest, keys []string) error {
	w, err := newTableWriter(ctx, to, tableKey(m.Name, keysName), func(f File) { m.Keys = f })
	if err != nil {
		return err
	}
	for _, key := range keys {
		if _, err = io.WriteString(w, key+"\n"); err != nil {
			break
		}
	}
	return errors.Join(w.Close(), err)
}

// addBlobs adds the blobs of a backup to a set. It fails where the list is not what the backup wrote.
func addBlobs(ctx context.Context, in blob.Store, m *Manifest, to map[contentDigest]bool) error {
	if m.Keys.SHA256 == "" {
		return fmt.Errorf("backup: %s does not say which blobs it has", m.Name)
	}
	if err := checkFile(ctx, in, m.Name, keysName, m.Keys); err != nil {
		return err
	}
	r, err := openTable(ctx, in, m.Name, keysName)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		digest, ok := digestOfKey(lines.Text())
		if !ok {
			return errors.Join(fmt.Errorf("backup: the list of blobs of %s has the line %q", m.Name, lines.Text()), r.Close())
		}
		to[digest] = true
	}
	return errors.Join(lines.Err(), r.Close())
}
