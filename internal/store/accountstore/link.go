package accountstore

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

func sameName(a, b string) bool { return strings.EqualFold(a, b) }

// CreateSetupLink stores a link that opens an account for an administrator of the server. It works on every server that
// uses the database.
func CreateSetupLink(ctx context.Context, s *store.Store, link accounts.Secret, by string) error {
	return addLink(ctx, s, link, nil, by)
}

// CreateUserLink stores a link by which a user chooses a password. Earlier links of the user become invalid. by is who
// made it, for the audit.
func CreateUserLink(ctx context.Context, s *store.Store, link accounts.Secret, name, by string) error {
	u, err := store.Read(ctx, s, func(v store.View) (User, error) { return FindUserByName(ctx, v, name) })
	if err != nil {
		return err
	}
	return addLink(ctx, s, link, &u.ID, by)
}

func addLink(ctx context.Context, s *store.Store, link accounts.Secret, user *int64, by string) error {
	return db.Tx(ctx, s, "account link", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `delete from account_links where user_id = $1 or expires_at < now()`, user); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx,
			`insert into account_links (digest, user_id, created_by, expires_at) values ($1, $2, $3, $4)`,
			link.Digest, user, by, time.Now().Add(accounts.LinkAge)); err != nil {
			return err
		}
		return audit.RecordServerChange(ctx, tx, by, "link", map[string]any{}, map[string]any{"setup": user == nil})
	})
}

// FindLinkOwner is the name of the user who may choose a password by a link, "" for a link that opens a new account;
// store.ErrNotFound for a link that is used, expired or unknown.
func FindLinkOwner(ctx context.Context, v store.View, digest []byte) (string, error) {
	name, err := db.Value[string](ctx, db.Q(v), `
		select coalesce(u.name, '') from account_links l left join users u on u.id = l.user_id
		where l.digest = $1 and l.used_at is null and l.expires_at > now()`, digest)
	return name, db.Wrap("account link", err)
}

// UseLink makes the account of a link, or changes its password, and returns it; the link becomes invalid. name counts
// for new accounts only. The first account owns the projects that exist already. It returns store.ErrNotFound as
// FindLinkOwner does, or a *leaks.FieldError.
func UseLink(ctx context.Context, s *store.Store, digest []byte, name, passwordHash string) (u User, err error) {
	err = db.Tx(ctx, s, "use account link", func(tx pgx.Tx) error {
		// Where two people open the first account at once, the second waits and finds its link deleted. It waits before
		// it locks its link, which the first one deletes.
		if _, err := tx.Exec(ctx, `lock table users in share row exclusive mode`); err != nil {
			return err
		}
		type link struct{ UserID *int64 }
		l, err := db.One[link](ctx, tx, `
			update account_links set used_at = now() where digest = $1 and used_at is null and expires_at > now() returning user_id`, digest)
		if errors.Is(err, pgx.ErrNoRows) {
			return store.ErrNotFound
		}
		if err != nil {
			return err
		}
		if l.UserID != nil {
			u, err = db.One[User](ctx, tx,
				`update users set password_hash = $2, epoch = epoch + 1 where id = $1 and locked_at is null returning `+userColumns,
				*l.UserID, passwordHash)
			if errors.Is(err, pgx.ErrNoRows) {
				return store.ErrNotFound
			}
		} else {
			u, err = useSetupLink(ctx, tx, name, passwordHash)
		}
		if err != nil {
			return err
		}
		ctx := accounts.WithActor(ctx, &accounts.Actor{Name: u.Name, UserID: u.ID})
		return audit.RecordServerChange(ctx, tx, u.Name, "password", map[string]any{}, map[string]any{"user": u.Name})
	})
	return u, err
}

func useSetupLink(ctx context.Context, tx pgx.Tx, name, passwordHash string) (User, error) {
	if err := accounts.CheckUserName(name); err != nil {
		return User{}, err
	}
	u, err := insertUser(ctx, tx, &User{Name: name, PasswordHash: passwordHash, Admin: true}, "")
	if err != nil {
		return u, err
	}
	first, err := db.Value[bool](ctx, tx, `select count(*) = 1 from users`)
	if err != nil || !first {
		return u, err
	}
	if _, err := tx.Exec(ctx, `insert into members (project_id, user_id, role) select id, $1, $2 from projects`, u.ID,
		accounts.Admin); err != nil {
		return u, err
	}
	// What else was printed for the first account opens no second one.
	_, err = tx.Exec(ctx, `delete from account_links where user_id is null and used_at is null`)
	return u, err
}
