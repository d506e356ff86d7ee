package api

import (
	"encoding/json"
	"net/http"

	"heapdrift/internal/store/uploadstore"
)

// AnnouncedUpload is the project in the metadata of a new upload; "" for symbols, which all projects share, and for
// metadata that POST refuses.
func AnnouncedUpload(header http.Header) string {
	upload, err := announced(header)
	if err != nil {
		return ""
	}
	return upload.Project
}

// ProjectOfUpload is the project that an upload under way is for; "" for symbols.
func ProjectOfUpload(u *uploadstore.Upload) string {
	var created pendingUpload
	if err := json.Unmarshal(u.Target, &created); err != nil {
		return ""
	}
	return created.Project
}
