package accountstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// A Membership is a user's role in one project.
type Membership struct {
	User string
	Role accounts.Role
}

// ListMembers lists who may see a project, by name, or says store.ErrNotFound.
func ListMembers(ctx context.Context, v store.View, project string) ([]Membership, error) {
	id, err := v.FindProjectID(ctx, project)
	if err != nil {
		return nil, err
	}
	list, err := db.All[Membership](ctx, db.Q(v), `
		select u.name as "user", m.role from members m join users u on u.id = m.user_id where m.project_id = $1 order by lower(u.name)`, id)
	return list, db.Wrap("members", err)
}

// UpdateMember gives a user a role in a project, or removes the user where role is "". It returns store.ErrNotFound
// where there is no such project or user.
func UpdateMember(ctx context.Context, s *store.Store, project, user string, role accounts.Role, by string) error {
	return db.Tx(ctx, s, "member", func(tx pgx.Tx) error {
		id, err := store.View{View: db.In(tx)}.FindProjectID(ctx, project)
		if err != nil {
			return err
		}
		u, err := FindUserByName(ctx, store.View{View: db.In(tx)}, user)
		if err != nil {
			return err
		}
		was, err := db.Values[accounts.Role](ctx, tx,
			`select role from members where project_id = $1 and user_id = $2 for update`, id, u.ID)
		if err != nil {
			return err
		}
		if role == "" {
			_, err = tx.Exec(ctx, `delete from members where project_id = $1 and user_id = $2`, id, u.ID)
		} else {
			_, err = tx.Exec(ctx, `
				insert into members (project_id, user_id, role) values ($1, $2, $3) on conflict (project_id, user_id) do update set role = excluded.role`, id, u.ID, role)
		}
		if err != nil {
			return err
		}
		before, after := map[string]any{"user": u.Name}, map[string]any{"user": u.Name, "role": role}
		if len(was) > 0 {
			before["role"] = was[0]
		}
		return audit.RecordProjectChange(ctx, tx, id, by, "member", before, after)
	})
}

// A RoleIn is the role of one user in a project.
type RoleIn struct {
	Project string
	Role    accounts.Role
}

// ListRoles lists the projects that a user is a member of, by name.
func ListRoles(ctx context.Context, v store.View, user int64) ([]RoleIn, error) {
	list, err := db.All[RoleIn](ctx, db.Q(v), `
		select p.name as project, m.role from members m join projects p on p.id = m.project_id where m.user_id = $1 order by p.name`, user)
	return list, db.Wrap("roles of a user", err)
}
