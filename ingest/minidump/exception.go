package minidump

// An Exception is what stopped the process, or what the writer of the dump put in its place (MINIDUMP_EXCEPTION_STREAM,
// 168 bytes):
//
//	ThreadId u32               0x00
//	ExceptionCode u32          0x08
//	ExceptionFlags u32         0x0C
//	ExceptionRecord u64        0x10   address of an outer record
//	ExceptionAddress u64       0x18
//	NumberParameters u32       0x20
//	ExceptionInformation u64   0x28   15 of them
//	ThreadContext              0xA0   DataSize u32, Rva u32
type Exception struct {
	Thread     uint32
	Code       uint32 // 0xC0000005: an access violation
	Flags      uint32
	Address    uint64 // of the instruction
	Parameters []uint64
	Context    Location // the registers at the exception, for ExceptionRegisters
}

const (
	exceptionSize       = 168
	exceptionParameters = 15
)

// Exception reads what stopped the process; it is nil where nothing did.
func (d *Dump) Exception() (*Exception, error) {
	s, ok := d.stream(StreamException)
	if !ok {
		return nil, nil
	}
	p := &problems{stream: StreamException}
	b, ok := d.head(s, exceptionSize, exceptionSize, p)
	if !ok {
		return nil, p.err()
	}
	e := &Exception{
		Thread:  le.Uint32(b),
		Code:    le.Uint32(b[0x08:]),
		Flags:   le.Uint32(b[0x0C:]),
		Address: le.Uint64(b[0x18:]),
		Context: Location{Size: le.Uint32(b[0xA0:]), Offset: int64(le.Uint32(b[0xA4:]))},
	}
	parameters := le.Uint32(b[0x20:])
	if parameters > exceptionParameters {
		p.add(CodeBadEntry, -1, s.Offset+0x20, 1, "the exception claims %d parameters; at most %d fit",
			parameters, exceptionParameters)
		parameters = exceptionParameters
	}
	for i := range int(parameters) {
		e.Parameters = append(e.Parameters, le.Uint64(b[0x28+8*i:]))
	}
	return e, p.err()
}

// ExceptionRegisters reads the registers of the thread at the exception. Registers reads those at the time of the dump.
func (d *Dump) ExceptionRegisters(e *Exception) (Registers, error) {
	return d.context(e.Context, StreamException)
}
