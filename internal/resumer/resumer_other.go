//go:build !windows

package resumer

// Start refuses.
func Start(uint32) (*Resumer, error) { return nil, ErrUnsupported }

func runAs(string, uintptr) error { return ErrUnsupported }
