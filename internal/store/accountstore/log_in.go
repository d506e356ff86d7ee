package accountstore

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// logInsLock orders attempts to log in: an advisory lock for all of them, each of which takes a millisecond.
const logInsLock = 0x4c4f4749

// TryLogIn reports whether somebody may try a password for a name from a client. The attempt counts as failed until
// CompleteLogIn says otherwise, so that guesses sent all at once get no more attempts than guesses sent one after
// another.
func TryLogIn(ctx context.Context, s *store.Store, name, client string, bound accounts.Throttle) (may bool, err error) {
	err = db.Tx(ctx, s, "log-in", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, logInsLock); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `delete from failed_log_ins where at < now() - $1::interval`, bound.Within); err != nil {
			return err
		}
		failed, err := db.One[accounts.Failures](ctx, tx, `
			select count(*) filter (where name = $1 and client = $2) as pair, count(*) filter (where client = $2) as client, count(*) filter (where name = $1) as user_name
			from failed_log_ins where name = $1 or client = $2`, countedName(name), client)
		if err != nil || bound.Refuses(failed) {
			return err
		}
		may = true
		_, err = tx.Exec(ctx, `insert into failed_log_ins (name, client) values ($1, $2)`, countedName(name), client)
		return err
	})
	return may && err == nil, err
}

// maxCounted is the length, in bytes, of the part of a name that failures are counted by: longer than the name of any
// account, and shorter than the limit of an index.
const maxCounted = 512

// countedName is the part of a typed name that failures are counted by.
func countedName(name string) string {
	name = strings.ToLower(name)
	return strings.ToValidUTF8(name[:min(len(name), maxCounted)], "")
}

// CompleteLogIn records that a user has logged in, forgets what failed before from the same client, and sessions that
// are over.
func CompleteLogIn(ctx context.Context, s *store.Store, u *User, client string) error {
	ctx = accounts.WithActor(ctx, &accounts.Actor{Name: u.Name, User: u.ID})
	return db.Tx(ctx, s, "log-in", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `delete from failed_log_ins where name = $1 and client = $2`,
			countedName(u.Name), client); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `delete from sessions where expiry < now()`); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `update users set logged_in_at = now() where id = $1`, u.ID); err != nil {
			return err
		}
		return audit.RecordServerChange(ctx, tx, u.Name, "log-in", map[string]any{}, map[string]any{"client": client})
	})
}

// FindOrCreateSubject finds or makes the account of somebody whom an OpenID Connect issuer vouches for. wanted is the
// name of a new account; where it is taken, a number stands behind it. It returns store.ErrNotFound for an account that
// is locked.
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
