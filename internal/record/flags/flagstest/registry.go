// Package flagstest is a registry in memory, for tests.
package flagstest

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"heapdrift/internal/record/flags"
)

// A Registry is a registry in memory. Its zero value is empty.
type Registry struct {
	mu   sync.Mutex
	keys map[string]map[string]flags.Value
	// Fail makes changes of the values with these names fail.
	Fail map[string]error
	// Split gives 32-bit programs a view of their own, which is empty.
	Split bool
	// Changed is called after each change, with the name of the value; nil for no call.
	Changed func(what string)
}

// Put sets a value, whatever Fail says.
func (r *Registry) Put(image, name string, v flags.Value) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys == nil {
		r.keys = map[string]map[string]flags.Value{}
	}
	if r.keys[image] == nil {
		r.keys[image] = map[string]flags.Value{}
	}
	r.keys[image][name] = v
}

// String lists everything, a value a line.
func (r *Registry) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []string
	for _, image := range slices.Sorted(maps.Keys(r.keys)) {
		lines = append(lines, image)
		for _, name := range slices.Sorted(maps.Keys(r.keys[image])) {
			v := r.keys[image][name]
			lines = append(lines, "  "+name+" "+v.String())
		}
	}
	return strings.Join(lines, "\n")
}

// HasKey implements flags.Registry.
func (r *Registry) HasKey(image string) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.keys[image] != nil, nil
}

// Get implements flags.Registry.
func (r *Registry) Get(image, name string) (*flags.Value, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, found := r.keys[image][name]; found {
		return &v, nil
	}
	return nil, nil
}

// Get32 implements flags.Registry.
func (r *Registry) Get32(image, name string) (*flags.Value, error) {
	if r.Split {
		return nil, nil
	}
	return r.Get(image, name)
}

// Set implements flags.Registry.
func (r *Registry) Set(image, name string, v flags.Value) error {
	if err := r.Fail[name]; err != nil {
		return err
	}
	r.Put(image, name, v)
	r.changed("set " + name)
	return nil
}

// Delete implements flags.Registry.
func (r *Registry) Delete(image, name string) error {
	if err := r.Fail[name]; err != nil {
		return err
	}
	r.mu.Lock()
	delete(r.keys[image], name)
	r.mu.Unlock()
	r.changed("delete " + name)
	return nil
}

// DeleteKey implements flags.Registry.
func (r *Registry) DeleteKey(image string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.keys[image]) == 0 {
		delete(r.keys, image)
	}
	return nil
}

func (r *Registry) changed(what string) {
	if r.Changed != nil {
		r.Changed(what)
	}
}

// ErrDenied is what Windows says to users who are no administrators.
var ErrDenied = errors.New("access is denied")
