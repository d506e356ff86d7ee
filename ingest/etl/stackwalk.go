package etl

// Stacks, group 0x18. Fields by wmicore.mof (StackWalk_Event) and ntwmi.h; pointers are the kernel's, 8 bytes on 64-bit
// Windows also where the process has 32 bits.
//
//	32 Stack        EventTimeStamp u64, PID u32, TID u32, addresses P…
//	34 KeyCreate, 35 KeyDelete, 36 KeyRundown  Key P, addresses P…
//	37 KeyKernel, 38 KeyUser                   EventTimeStamp u64, PID u32, TID u32, Key P

// maxFrames is how many addresses of one stack are believed; Windows logs 192 at most.
const maxFrames = 1024

// A StackTarget names the event that a stack belongs to: by its time stamp on the session's clock and its thread. The
// target precedes the stack, if only by a little.
type StackTarget struct {
	Stamp    int64 // ticks of the session's clock
	PID, TID uint32
}

// StackTarget decodes the first fields of KindStackWalk, KindStackKeyKernel and KindStackKeyUser. ok is false where the
// payload is too short.
func (e *Event) StackTarget() (t StackTarget, ok bool) {
	if !e.has(16, 0) {
		return t, false
	}
	return StackTarget{int64(le.Uint64(e.Payload)), e.u32(8, 0), e.u32(12, 0)}, true
}

// StackKey decodes the key of KindStackKeyKernel and KindStackKeyUser, and of the definitions: KindStackKeyCreate,
// KindStackKeyDelete and KindStackKeyRundown. A definition holds for the references before it; keys are re-used. ok is
// false where the payload is too short.
func (e *Event) StackKey() (key uint64, ok bool) {
	at := 0
	if e.Kind == KindStackKeyKernel || e.Kind == KindStackKeyUser {
		at = 16
	}
	if !e.has(at, 1) {
		return 0, false
	}
	return e.p(at, 0), true
}

// frames is the part of the payload that holds addresses.
func (e *Event) frames() []byte {
	at, skip := 0, 1
	if e.Kind == KindStackWalk {
		at, skip = 16, 0
	}
	if !e.has(at, skip) {
		return nil
	}
	b := e.from(at, skip)
	return b[:min(len(b), maxFrames*int(e.PointerBytes))]
}
