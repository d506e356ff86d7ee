package blob

// Tests use sizes around these.
const (
	UploadPart  = uploadPart
	BlockBytes  = blockBytes
	MaxRunBytes = maxRunBytes
	CacheBytes  = cacheBytes
)

// SetCopyPart makes a store that copies do so in parts of n bytes.
func SetCopyPart(s Store, n int64) {
	if s, ok := s.(*s3); ok {
		s.copyPart = n
	}
}
