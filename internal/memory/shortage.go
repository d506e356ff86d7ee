package memory

// A ShortageError says that the system ended a process for lack of memory although the process kept within its part of
// the budget: the machine, or its control group, has less memory than the budget says.
type ShortageError struct{}

func (*ShortageError) Error() string {
	return "memory: the system ended a process for lack of memory; lower HEAPDRIFT_MEMORY or give the machine more"
}
