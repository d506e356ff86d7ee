package target

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// eventRights let every program of the machine set the event, also one without the rights of the recording: the label
// ME is that of programs that no administrator has started.
const eventRights = "D:(A;;GA;;;SY)(A;;GA;;;BA)(A;;GA;;;OW)(A;;0x100002;;;AU)S:(ML;;NW;;;ME)"

// The rights to an event: to wait, and to reset one that stays set.
const eventAccess = windows.SYNCHRONIZE | windows.EVENT_MODIFY_STATE

// Event implements System.
func (Windows) Event(ctx context.Context, name string) (<-chan struct{}, error) {
	event, err := openEvent(name)
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", name, err)
	}
	stop, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("event %s: %w", name, err), windows.CloseHandle(event))
	}
	forget := context.AfterFunc(ctx, func() { _ = windows.SetEvent(stop) })
	set := make(chan struct{})
	go func() {
		defer func() {
			if forget() { // else it may be setting stop now, which ends with this program
				_ = windows.CloseHandle(stop)
			}
			_ = windows.CloseHandle(event)
			close(set)
		}()
		for {
			which, err := windows.WaitForMultipleObjects([]windows.Handle{stop, event}, false, windows.INFINITE)
			if err != nil || which != windows.WAIT_OBJECT_0+1 {
				return
			}
			_ = windows.ResetEvent(event) // for an event that its program made to stay set
			select {
			case set <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return set, nil
}

// openEvent makes an event that resets itself, or opens the one that its program has made.
func openEvent(name string) (windows.Handle, error) {
	text, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return 0, err
	}
	rights, err := windows.SecurityDescriptorFromString(eventRights)
	if err != nil {
		return 0, err
	}
	attributes := &windows.SecurityAttributes{SecurityDescriptor: rights}
	attributes.Length = uint32(unsafe.Sizeof(*attributes))
	event, err := windows.CreateEventEx(attributes, text, 0, eventAccess)
	if errors.Is(err, windows.ERROR_ALREADY_EXISTS) { // it is open then
		err = nil
	}
	return event, err
}
