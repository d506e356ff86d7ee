package main

import (
	"slices"
	"testing"
)

// The client names the commands that it does not have: serverNames lists all of serverCommands.
func TestServerNames(t *testing.T) {
	var names []string
	for _, c := range serverCommands() {
		names = append(names, c.name)
	}
	if !slices.Equal(names, serverNames) {
		t.Errorf("serverNames has %q, the server's commands are %q", serverNames, names)
	}
}
