package flags

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// Windows is the registry of this machine.
type Windows struct{}

// HasKey implements Registry.
func (Windows) HasKey(image string) (bool, error) {
	key, err := open(image, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if errors.Is(err, registry.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, key.Close()
}

// Get implements Registry.
func (Windows) Get(image, name string) (*Value, error) { return get(image, name, registry.WOW64_64KEY) }

// Get32 implements Registry.
func (Windows) Get32(image, name string) (*Value, error) {
	return get(image, name, registry.WOW64_32KEY)
}

func open(image string, access uint32) (registry.Key, error) {
	return registry.OpenKey(registry.LOCAL_MACHINE, Root+`\`+image, access)
}

func get(image, name string, view uint32) (*Value, error) {
	key, err := open(image, registry.QUERY_VALUE|view)
	if errors.Is(err, registry.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer key.Close()
	data := make([]byte, maxData)
	n, kind, err := key.GetValue(name, data)
	if errors.Is(err, registry.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Value{kind, data[:n]}, nil
}

var setValue = windows.NewLazySystemDLL("advapi32.dll").NewProc("RegSetValueExW")

// Set implements Registry.
func (Windows) Set(image, name string, v Value) error {
	key, _, err := registry.CreateKey(registry.LOCAL_MACHINE, Root+`\`+image, registry.SET_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return err
	}
	defer key.Close()
	text, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return err
	}
	// The package has a function for each type, none for bytes as they were.
	code, _, _ := setValue.Call(uintptr(key), uintptr(unsafe.Pointer(text)), 0, uintptr(v.Type),
		uintptr(unsafe.Pointer(unsafe.SliceData(v.Data))), uintptr(len(v.Data)))
	if code != 0 {
		return windows.Errno(code)
	}
	return nil
}

// Delete implements Registry.
func (Windows) Delete(image, name string) error {
	key, err := open(image, registry.SET_VALUE|registry.WOW64_64KEY)
	if errors.Is(err, registry.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer key.Close()
	if err := key.DeleteValue(name); err != nil && !errors.Is(err, registry.ErrNotExist) {
		return err
	}
	return nil
}

// DeleteKey implements Registry.
func (Windows) DeleteKey(image string) error {
	key, err := open(image, registry.QUERY_VALUE|registry.ENUMERATE_SUB_KEYS|registry.WOW64_64KEY)
	if errors.Is(err, registry.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := key.Stat()
	if err := errors.Join(err, key.Close()); err != nil {
		return err
	}
	if info.ValueCount > 0 || info.SubKeyCount > 0 {
		return nil
	}
	return registry.DeleteKey(registry.LOCAL_MACHINE, Root+`\`+image)
}
