// Package accounts decides who may do what. It knows people, their roles in projects, the tokens of CI jobs and their
// scopes, and how secrets are made and kept; it speaks neither SQL nor HTTP.
//
// In come an Actor, as the store knows it, and the Right that a request needs in a project. Out goes yes or no.
package accounts

import (
	"slices"
	"strings"
	"unicode"

	"heapdrift/internal/leaks"
)

// A Right is what a request needs in a project.
type Right int

// The rights, the weakest first.
const (
	// Decide reads what a gate decides: the state of a run and its verdict.
	Decide Right = iota + 1
	// Read sees everything of a project: reports, leaks, symbols, evidence.
	Read
	// Upload adds evidence and symbols and completes runs.
	Upload
	// Change says what the team knows: triage, comments, rules, baselines.
	Change
	// Manage decides who may do all that: members, tokens, the gate's policy, names, deletion.
	Manage
)

// A Role is what a person is in a project.
type Role string

// The roles, the weakest first.
const (
	Viewer Role = "viewer"
	Member Role = "member"
	Admin  Role = "admin"
)

// A Scope is what a token is for. A token may have several.
type Scope string

// The scopes that outside scripts rely on.
const (
	ScopeUpload Scope = "upload"
	ScopeRead   Scope = "read"
	ScopeAdmin  Scope = "admin"
)

// rightsOfRole and rightsOfScope are the whole policy.
var (
	rightsOfRole = map[Role][]Right{
		Viewer: {Decide, Read},
		Member: {Decide, Read, Upload, Change},
		Admin:  {Decide, Read, Upload, Change, Manage},
	}
	rightsOfScope = map[Scope][]Right{
		ScopeUpload: {Decide, Upload},
		ScopeRead:   {Decide, Read},
		ScopeAdmin:  {Decide, Read, Upload, Change, Manage},
	}
)

// Roles lists the roles, the weakest first.
func Roles() []Role { return []Role{Viewer, Member, Admin} }

// Scopes lists the scopes, as forms show them.
func Scopes() []Scope { return []Scope{ScopeUpload, ScopeRead, ScopeAdmin} }

// RoleOf reads a role. Its error is a *leaks.FieldError.
func RoleOf(text string) (Role, error) {
	if role := Role(text); slices.Contains(Roles(), role) {
		return role, nil
	}
	return "", &leaks.FieldError{Field: "role", Message: "is none of viewer, member, admin"}
}

// ScopesOf reads the scopes of a new token, and drops repeated ones. Its error is a *leaks.FieldError.
func ScopesOf(texts []string) ([]Scope, error) {
	var scopes []Scope
	for _, text := range texts {
		scope := Scope(strings.TrimSpace(text))
		switch {
		case !slices.Contains(Scopes(), scope):
			return nil, &leaks.FieldError{Field: "scopes", Message: "has one that is none of upload, read, admin"}
		case !slices.Contains(scopes, scope):
			scopes = append(scopes, scope)
		}
	}
	if len(scopes) == 0 {
		return nil, &leaks.FieldError{Field: "scopes", Message: "are missing: choose upload, read or admin"}
	}
	return scopes, nil
}

// maxName is how long the name of a user or a token may be, in characters.
const maxName = 64

// CheckUserName refuses names that no account may have, because the audit uses them for other actors. Its error is a
// *leaks.FieldError.
func CheckUserName(name string) error {
	if err := checkName("name", name, " ._+@-"); err != nil {
		return err
	}
	if strings.EqualFold(name, leaks.UnnamedActor) || strings.HasPrefix(strings.ToLower(name), tokenActor) {
		return &leaks.FieldError{Field: "name", Message: "is taken by heapdrift itself"}
	}
	return nil
}

// CheckTokenName refuses names that no token may have. Its error is a *leaks.FieldError.
func CheckTokenName(name string) error { return checkName("name", name, " ._+@#:/-") }

func checkName(field, name, marks string) error {
	for i, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && (i == 0 || !strings.ContainsRune(marks, r)) {
			return &leaks.FieldError{Field: field, Message: "is not a name: letters, digits and " + strings.TrimSpace(marks) +
				", starting with a letter or digit"}
		}
	}
	if name == "" {
		return &leaks.FieldError{Field: field, Message: "is missing"}
	}
	return leaks.CheckText(field, name, maxName)
}
