package leaks

import "strings"

// A BuildChange corrects the facts of a build. Fields that are nil stay as they are.
type BuildChange struct {
	Name     *string
	Branch   *string // "" for none
	Commit   *string // "" for none
	Fork     *string // the build at which its branch left the parent line; "" for none
	Sequence *int64
}

// Normalize checks a change of the build that has the name build. Its error is a *FieldError.
func (c *BuildChange) Normalize(build string) error {
	if c.Name == nil && c.Branch == nil && c.Commit == nil && c.Fork == nil && c.Sequence == nil {
		return &FieldError{"body", "has no change"}
	}
	for _, field := range []struct {
		name     string
		value    *string
		required bool
	}{{"name", c.Name, true}, {"branch", c.Branch, false}, {"commit", c.Commit, false}, {"fork", c.Fork, false}} {
		if field.value == nil {
			continue
		}
		*field.value = strings.TrimSpace(*field.value)
		switch text := *field.value; {
		case text == "" && field.required:
			return &FieldError{field.name, "is missing"}
		case text != "" && !anyName.fits(text):
			return wrongField(field.name, "%q is not a name: %s", text, anyName.words)
		}
	}
	name := build
	if c.Name != nil {
		name = *c.Name
	}
	if c.Fork != nil && *c.Fork == name {
		return &FieldError{"fork", ownFork}
	}
	return nil
}

// A ProjectChange corrects the facts of a project. Fields that are nil stay as they are.
type ProjectChange struct {
	Name          *string
	DefaultBranch *string // that other branches leave; "" for none
}

// Normalize checks a change. Its error is a *FieldError.
func (c *ProjectChange) Normalize() error {
	if c.Name == nil && c.DefaultBranch == nil {
		return &FieldError{"body", "has no change"}
	}
	if c.Name != nil {
		if *c.Name = strings.TrimSpace(*c.Name); !projectName.fits(*c.Name) {
			return wrongField("name", "%q is not a name: %s", *c.Name, projectName.words)
		}
	}
	if c.DefaultBranch != nil {
		if *c.DefaultBranch = strings.TrimSpace(*c.DefaultBranch); *c.DefaultBranch != "" && !anyName.fits(*c.DefaultBranch) {
			return wrongField("default_branch", "%q is not a name: %s", *c.DefaultBranch, anyName.words)
		}
	}
	return nil
}
