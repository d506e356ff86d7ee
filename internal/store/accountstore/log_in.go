package accountstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// logInsLock orders attempts to log in: an advisory lock for all of them, each of which takes a millisecond.
const logInsLock = 0x4c4f4749

// A LogIn is an attempt to log in: the name as it was typed, the address that it comes from, and the digest of the
// secret that the browser keeps, nil for none.
type LogIn struct {
	Name, Client string
	Device       []byte
}

// maxDevices is how many browsers of a user are known at most: those that were used last.
const maxDevices = 20

// TryLogIn reports whether somebody may try a password. The attempt counts as failed until CompleteLogIn says
// otherwise, so that guesses sent all at once get no more attempts than guesses sent one after another. A browser that
// the user has logged in with before counts its own failures only: strangers do not lock it out.
func TryLogIn(ctx context.Context, s *store.Store, in LogIn, bound accounts.Throttle) (may bool, err error) {
	err = db.Tx(ctx, s, "log-in", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, logInsLock); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `delete from failed_log_ins where at < now() - $1::interval`, bound.Within); err != nil {
			return err
		}
		known, err := db.Value[bool](ctx, tx, `
			select exists (select from known_devices d join users u on u.id = d.user_id
				where d.digest = $1 and lower(u.name) = $2 and d.used_at > now() - $3::interval)`,
			in.Device, countedName(in.Name), accounts.DeviceAge)
		if err != nil {
			return err
		}
		client := in.Client
		if known {
			client = deviceClient(in.Device)
		}
		failed, err := db.One[accounts.Failures](ctx, tx, `
			select count(*) filter (where name = $1 and client = $2) as by_pair, count(*) filter (where client = $2) as by_client, count(*) filter (where name = $1) as by_user_name
			from failed_log_ins where name = $1 or client = $2`, countedName(in.Name), client)
		if known {
			failed = accounts.Failures{ByPair: failed.ByPair}
		}
		if err != nil || bound.Refuses(failed) {
			return err
		}
		may = true
		_, err = tx.Exec(ctx, `insert into failed_log_ins (name, client) values ($1, $2)`, countedName(in.Name), client)
		return err
	})
	return may && err == nil, err
}

// deviceClient is what the failures of a known browser are counted by, instead of its address.
func deviceClient(digest []byte) string { return fmt.Sprintf("device %x", digest) }

// maxCounted is the length, in bytes, of the part of a name that failures are counted by: longer than the name of any
// account, and shorter than the limit of an index.
const maxCounted = 512

// countedName is the part of a typed name that failures are counted by.
func countedName(name string) string {
	name = strings.ToLower(name)
	return strings.ToValidUTF8(name[:min(len(name), maxCounted)], "")
}

// CompleteLogIn records that a user has logged in. It deletes the user's failed attempts from the same client, and
// sessions that are over. From now on the browser is known by another digest.
func CompleteLogIn(ctx context.Context, s *store.Store, u *User, in LogIn, device []byte) error {
	ctx = accounts.WithActor(ctx, &accounts.Actor{Name: u.Name, UserID: u.ID})
	return db.Tx(ctx, s, "log-in", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `delete from failed_log_ins where name = $1 and client in ($2, $3)`,
			countedName(u.Name), in.Client, deviceClient(in.Device)); err != nil {
			return err
		}
		if err := replaceDevice(ctx, tx, u.ID, in.Device, device); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `delete from sessions where expiry < now()`); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `update users set logged_in_at = now() where id = $1`, u.ID); err != nil {
			return err
		}
		return audit.RecordServerChange(ctx, tx, u.Name, "log-in", map[string]any{}, map[string]any{"client": in.Client})
	})
}

// replaceDevice makes a browser known to a user by another digest than before, and forgets those that are too old or
// too many.
func replaceDevice(ctx context.Context, tx pgx.Tx, user int64, before, device []byte) error {
	if _, err := tx.Exec(ctx, `delete from known_devices where user_id = $1 and (digest = $2 or used_at <= now() - $3::interval)`,
		user, before, accounts.DeviceAge); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `insert into known_devices (digest, user_id) values ($1, $2)`, device, user); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `delete from known_devices where digest in
		(select digest from known_devices where user_id = $1 order by used_at desc, digest offset $2)`, user, maxDevices)
	return err
}

// FindOrCreateSubject finds or makes the account for a subject of an OpenID Connect issuer. wanted is the name of a new
// account; if it is taken, a number is added. It returns store.ErrNotFound for an account that is locked.
func FindOrCreateSubject(ctx context.Context, s *store.Store, issuer, subject, wanted, email string) (u User,
	err error) {
	err = db.Tx(ctx, s, "user of an issuer", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `lock table users in share row exclusive mode`); err != nil {
			return err
		}
		list, err := db.All[User](ctx, tx, `select `+userColumns+` from users where issuer = $1 and subject = $2`,
			issuer, subject)
		switch {
		case err != nil:
			return err
		case len(list) == 1 && list[0].LockedAt != nil:
			return store.ErrNotFound
		case len(list) == 1:
			u = list[0]
			return nil
		}
		taken, err := db.Values[string](ctx, tx, `select lower(name) from users`)
		if err != nil {
			return err
		}
		u, err = insertUser(ctx, tx, &User{Name: freeName(wanted, taken), Email: email, Issuer: issuer}, subject)
		if err != nil {
			return err
		}
		return audit.RecordServerChange(ctx, tx, u.Name, "account", map[string]any{}, map[string]any{"user": u.Name, "issuer": issuer})
	})
	return u, err
}
