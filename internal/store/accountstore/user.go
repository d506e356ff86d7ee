// Package accountstore keeps accounts, their links and log-ins, members of projects, and tokens in PostgreSQL. In come
// names, secrets as digests, and who asks; out come accounts, tokens and the actors that guards ask, or an error such
// as store.ErrNotFound. It is above package store: nothing there needs an account.
package accountstore

import (
	"context"
	"time"

	"github.com/alexedwards/scs/pgxstore"
	"github.com/alexedwards/scs/v2"
	"github.com/jackc/pgx/v5"

	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// A User is a person who may log in.
type User struct {
	ID           int64
	Name         string
	Email        string
	PasswordHash string
	Issuer       string // OpenID Connect issuer; "" where heapdrift itself checks the password
	Admin        bool   // administers the server
	Epoch        int    // sessions of an older epoch have ended
	CreatedAt    time.Time
	LoggedInAt   *time.Time // nil for never
	LockedAt     *time.Time // nil for not locked
}

const userColumns = `id, name, email, password_hash, issuer, admin, epoch, created_at, logged_in_at, locked_at`

// SessionStore keeps sessions in the database, so that all servers know them.
func SessionStore(s *store.Store) scs.Store { return pgxstore.NewWithCleanupInterval(db.Conns(s), 0) }

// HasUsers reports whether anybody has an account.
func HasUsers(ctx context.Context, s *store.Store) (bool, error) {
	is, err := db.Value[bool](ctx, db.Conns(s), `select exists (select from users)`)
	return is, db.Wrap("users", err)
}

// FindUserByName finds an account by its name, in upper or lower case. It returns store.ErrNotFound where there is
// none.
func FindUserByName(ctx context.Context, v store.View, name string) (User, error) {
	u, err := db.One[User](ctx, db.Q(v), `select `+userColumns+` from users where lower(name) = lower($1)`, name)
	return u, db.Wrap("user", err)
}

// ListUsers lists all accounts by name.
func ListUsers(ctx context.Context, v store.View) ([]User, error) {
	list, err := db.All[User](ctx, db.Q(v), `select `+userColumns+` from users order by lower(name)`)
	return list, db.Wrap("users", err)
}

// FindUserActor is the actor of a user's session, or store.ErrNotFound where the session has ended: the account is
// locked or deleted, or has another epoch.
func FindUserActor(ctx context.Context, v store.View, id int64, epoch int) (*accounts.Actor, error) {
	u, err := db.One[User](ctx, db.Q(v), `select `+userColumns+
		` from users where id = $1 and epoch = $2 and locked_at is null`, id, epoch)
	if err != nil {
		return nil, db.Wrap("user", err)
	}
	type membership struct {
		ProjectID int64
		Role      accounts.Role
	}
	list, err := db.All[membership](ctx, db.Q(v), `select project_id, role from members where user_id = $1`, id)
	if err != nil {
		return nil, db.Wrap("memberships", err)
	}
	a := &accounts.Actor{Name: u.Name, UserID: u.ID, Server: u.Admin,
		RoleByProject: make(map[int64]accounts.Role, len(list))}
	for _, m := range list {
		a.RoleByProject[m.ProjectID] = m.Role
	}
	return a, nil
}

// CreateUser makes an account that nobody can log in to before its link is used. It returns a *leaks.FieldError for a
// name that is invalid or taken, and where nobody has an account yet: the first account is an admin's, made by a set-up
// link, because otherwise nobody could log in to make others.
func CreateUser(ctx context.Context, s *store.Store, name, email string, admin bool, by string) (u User, err error) {
	if err := accounts.CheckUserName(name); err != nil {
		return u, err
	}
	if err := leaks.CheckText("email", email, maxEmail); err != nil {
		return u, err
	}
	err = db.Tx(ctx, s, "add user", func(tx pgx.Tx) error {
		others, err := db.Value[bool](ctx, tx, `select exists (select from users)`)
		if err != nil {
			return err
		}
		if !others {
			return &leaks.FieldError{Field: "name",
				Message: "cannot be the first: heapdrift setup-link prints the link for that account"}
		}
		if u, err = insertUser(ctx, tx, &User{Name: name, Email: email, Admin: admin}, ""); err != nil {
			return err
		}
		return audit.RecordServerChange(ctx, tx, by, "account", map[string]any{}, map[string]any{"user": name, "admin": admin})
	})
	return u, err
}

// maxEmail is how long an address may be, in characters.
const maxEmail = 254

func insertUser(ctx context.Context, tx pgx.Tx, u *User, subject string) (User, error) {
	added, err := db.One[User](ctx, tx, `
		insert into users (name, email, password_hash, issuer, subject, admin) values ($1, $2, $3, $4, $5, $6) returning `+userColumns,
		u.Name, u.Email, u.PasswordHash, u.Issuer, subject, u.Admin)
	if db.IsTaken(err) {
		return added, &leaks.FieldError{Field: "name", Message: "is taken by another account"}
	}
	return added, err
}

// UpdateUserAdmin decides whether a user administers the server. The last administrator stays one: the error is a
// *leaks.FieldError.
func UpdateUserAdmin(ctx context.Context, s *store.Store, name string, admin bool, by string) error {
	return changeUser(ctx, s, name, by, "admin", admin, func(u *User) bool { return u.Admin },
		`update users set admin = $2, epoch = epoch + 1 where id = $1`)
}

// UpdateUserLocked locks an account, which ends its sessions, or unlocks it. The last administrator cannot be locked:
// the error is a *leaks.FieldError.
func UpdateUserLocked(ctx context.Context, s *store.Store, name string, locked bool, by string) error {
	return changeUser(ctx, s, name, by, "locked", locked, func(u *User) bool { return u.LockedAt != nil },
		`update users set locked_at = case when $2 then now() end, epoch = epoch + 1 where id = $1`)
}

func changeUser(ctx context.Context, s *store.Store, name, by, field string, to bool,
	was func(*User) bool, update string) error {
	return db.Tx(ctx, s, "change user", func(tx pgx.Tx) error {
		// Where two admins take the right from each other, the second one waits, and is refused as the last admin.
		admins, err := db.All[User](ctx, tx, `select `+userColumns+
			` from users where lower(name) = lower($1) or (admin and locked_at is null) order by id for update`, name)
		if err != nil {
			return err
		}
		var u *User
		others := 0
		for i := range admins {
			if sameName(admins[i].Name, name) {
				u = &admins[i]
			} else {
				others++
			}
		}
		switch {
		case u == nil:
			return store.ErrNotFound
		case was(u) == to:
			return nil
		}
		if _, err := tx.Exec(ctx, update, u.ID, to); err != nil {
			return err
		}
		if others == 0 && u.Admin && u.LockedAt == nil {
			return &leaks.FieldError{Field: field, Message: "would leave the server without anybody who administers it"}
		}
		return audit.RecordServerChange(ctx, tx, by, "account", map[string]any{"user": u.Name, field: !to},
			map[string]any{"user": u.Name, field: to})
	})
}
