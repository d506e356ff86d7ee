package etl

// Threads, group 5. Fields by wmicore.mof (Thread_TypeGroup1):
//
//	1 Start, 2 End, 3 DCStart, 4 DCEnd
//	v0  TID u32, PID u32
//	v1  PID u32, TID u32, StackBase P, … and what follows is not needed
//	72 SetName  PID u32, TID u32, name UTF-16

// ThreadEvent is a thread that started, ended, was there, or was named.
type ThreadEvent struct {
	PID, TID uint32
	Name     string // of KindThreadSetName
}

// Thread decodes KindThreadStart, KindThreadEnd, KindThreadDCStart, KindThreadDCEnd and KindThreadSetName.
func (e *Event) Thread() (t ThreadEvent, ok bool) {
	if !e.has(8, 0) {
		return t, false
	}
	t = ThreadEvent{PID: e.u32(0, 0), TID: e.u32(4, 0)}
	switch {
	case e.Kind == KindThreadSetName:
		t.Name, _ = utf16z(e.Payload[8:])
	case e.Version == 0:
		t.PID, t.TID = t.TID, t.PID
	}
	return t, true
}
