package minidump

// How many entries of a list are read. A stream that claims more is read so far, and says so.
const (
	maxStreams = 1 << 12
	maxModules = 1 << 16 // listed and unloaded; a process of a thousand is large
	maxThreads = 1 << 16
	maxHandles = 1 << 24 // the most that Windows gives to a process
	maxRanges  = 1 << 20 // 24 bytes each
	maxRegions = 1 << 20 // 48 bytes each
	// keptHandles is how many Handles returns. A process that leaks handles may have more: EachHandle keeps none.
	keptHandles = 1 << 18
)

const (
	// maxEntry is how large an entry of a list with declared sizes may be: the layouts that are known have at most 64
	// bytes, and newer ones may be longer.
	maxEntry = 4096
	// maxName is how many bytes of a name are read: the longest path that Windows allows, in UTF-16.
	maxName = 2 * 32767
	// maxNames is how many bytes the names of one stream may take together.
	maxNames = 32 << 20
	// maxComment is how many bytes of a comment are read, and maxComments how many comments: those of real dumps have a
	// few lines.
	maxComment = 64 << 10
	// maxCodeView is how many bytes of a CodeView record are read.
	maxCodeView = 24 + maxName/2
	maxComments = 16
	// chunk is how many bytes of a list are read at once.
	chunk = 64 << 10
)
