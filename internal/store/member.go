package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/accounts"
)

// A Membership is what a user is in a project.
type Membership struct {
	User string
	Role accounts.Role
}

// ListMembers lists who may see a project, by name, or says ErrNotFound.
func (v View) ListMembers(ctx context.Context, project string) ([]Membership, error) {
	id, err := projectID(ctx, v.q, project)
	if err != nil {
		return nil, err
	}
	list, err := all[Membership](ctx, v.q, `
		select u.name as "user", m.role from members m join users u on u.id = m.user_id where m.project_id = $1 order by lower(u.name)`, id)
	return list, wrap("members", err)
}

// UpdateMember gives a user a role in a project, or takes it where role is "". It returns ErrNotFound where there is no
// such project or user.
func (s *Store) UpdateMember(ctx context.Context, project, user string, role accounts.Role, by string) error {
	return s.tx(ctx, "member", func(tx pgx.Tx) error {
		id, err := projectID(ctx, tx, project)
		if err != nil {
			return err
		}
		u, err := View{tx}.FindUserByName(ctx, user)
		if err != nil {
			return err
		}
		was, err := values[accounts.Role](ctx, tx,
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
		return auditProject(ctx, tx, id, by, "member", before, after)
	})
}

// FindProjectID is the number of a project, or ErrNotFound.
func (v View) FindProjectID(ctx context.Context, project string) (int64, error) {
	return projectID(ctx, v.q, project)
}

// FindProjectOfRun is the number of the project that a run belongs to, or ErrNotFound.
func (v View) FindProjectOfRun(ctx context.Context, run int64) (int64, error) {
	id, err := value[int64](ctx, v.q,
		`select b.project_id from runs r join builds b on b.id = r.build_id where r.id = $1`, run)
	return id, wrap("project of a run", err)
}

// A RoleIn is what a user is in a project.
type RoleIn struct {
	Project string
	Role    accounts.Role
}

// ListRoles lists the projects that a user is a member of, by name.
func (v View) ListRoles(ctx context.Context, user int64) ([]RoleIn, error) {
	list, err := all[RoleIn](ctx, v.q, `
		select p.name as project, m.role from members m join projects p on p.id = m.project_id where m.user_id = $1 order by p.name`, user)
	return list, wrap("roles of a user", err)
}
