package blob

// Free is how many bytes can still be stored; false where that is unknown, as for S3.
func Free(s Store) (int64, bool) {
	d, ok := s.(*disk)
	if !ok {
		return 0, false
	}
	return freeBelow(d.root.Name())
}
