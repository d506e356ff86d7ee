package accounts

import (
	"context"
	"fmt"
	"slices"
)

// tokenActor stands before the name of a token where it stands for a person.
const tokenActor = "token "

// An Actor is who a request comes from. The zero one is nobody, who may do nothing.
type Actor struct {
	// Name is who did it, for the audit: the name of a user, or "token " and the name of a token. It is "" for nobody
	// and where a server is open.
	Name   string
	UserID int64 // id; 0 for none
	// Server says that a user administers the server: all of its projects and its accounts.
	Server bool
	// Open says that the server asks nobody who they are: everybody may do everything.
	Open bool
	// RoleByProject are the roles of a user, by the id of the project.
	RoleByProject map[int64]Role

	TokenID int64   // id; 0 for none
	Scopes  []Scope // of the token
	// ProjectID is the id of the only project that a token is for; 0 for none.
	ProjectID int64
}

// OfToken makes the actor of a request with this token.
func OfToken(id int64, name string, project int64, scopes []Scope) Actor {
	return Actor{Name: tokenActor + name, TokenID: id, ProjectID: project, Scopes: scopes}
}

// Known reports whether the actor is a user or a token, whose name heapdrift has checked.
func (a *Actor) Known() bool { return a.UserID != 0 || a.TokenID != 0 }

// Account tells actors apart where they share something: a token or a user, "" for nobody and where a server is open.
func (a *Actor) Account() string {
	switch {
	case a.TokenID != 0:
		return fmt.Sprintf("token %d", a.TokenID)
	case a.UserID != 0:
		return fmt.Sprintf("user %d", a.UserID)
	}
	return ""
}

// Somebody reports whether the actor gets more than public pages: a user, a token, or anyone on an open server.
func (a *Actor) Somebody() bool { return a.Open || a.Known() }

// May reports whether the actor has a right in the project with this id.
func (a *Actor) May(right Right, project int64) bool {
	switch {
	case a.Open, a.Server:
		return true
	case a.UserID != 0:
		return slices.Contains(rightsOfRole[a.RoleByProject[project]], right)
	case a.TokenID != 0 && a.ProjectID == project:
		return a.scoped(right)
	}
	return false
}

// MaySomewhere reports whether the actor has a right in any project.
func (a *Actor) MaySomewhere(right Right) bool {
	switch {
	case a.Open, a.Server:
		return true
	case a.TokenID != 0:
		return a.scoped(right)
	}
	for project := range a.RoleByProject {
		if a.May(right, project) {
			return true
		}
	}
	return false
}

// MaySee reports whether the actor may know that the project with this id exists.
func (a *Actor) MaySee(project int64) bool { return a.May(Decide, project) }

// MayEverywhere reports whether the actor administers the server: makes projects, accounts, and reads what belongs to
// no project.
func (a *Actor) MayEverywhere() bool { return a.Open || a.Server }

func (a *Actor) scoped(right Right) bool {
	return slices.ContainsFunc(a.Scopes, func(s Scope) bool { return slices.Contains(rightsOfScope[s], right) })
}

type actorKey struct{}

// WithActor returns a context whose work is done for an actor.
func WithActor(ctx context.Context, a *Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorFrom is the actor that WithActor put into the context; a zero Actor, who is nobody, for none. It is never nil.
func ActorFrom(ctx context.Context) *Actor {
	if a, ok := ctx.Value(actorKey{}).(*Actor); ok {
		return a
	}
	return &Actor{}
}

// IsVerified reports whether a name for the audit is that of the context's actor, which heapdrift has checked. Other
// names are as somebody typed them.
func IsVerified(ctx context.Context, name string) bool {
	a := ActorFrom(ctx)
	return a.Known() && a.Name == name
}
