package api_test

import (
	"encoding/base64"
	"strconv"
	"strings"
	"testing"
)

func TestTusRefused(t *testing.T) {
	n := start(t)
	for _, test := range refusals {
		upload := n.create(len(test.body))
		half := len(test.body) / 2
		n.patch(upload, 0, strings.NewReader(test.body[:half])).want(t, 204, "")
		n.patch(upload, half, strings.NewReader(test.body[half:])).want(t, test.status, test.code)
		n.head(upload).want(t, 404, "")
		n.nothingStored()
	}
}

func TestTusCreationRefused(t *testing.T) {
	n := start(t)
	for _, test := range []struct {
		length, metadata string
		status           int
		code             string
	}{
		{"", metadata(), 400, "invalid-upload-length"}, {"-1", metadata(), 400, "invalid-upload-length"},
		{"+1", metadata(), 400, "invalid-upload-length"},
		{"1e3", metadata(), 400, "invalid-upload-length"}, {"99999999999999999999", metadata(), 400, "invalid-upload-length"},
		{"0", metadata(), 422, "empty-file"}, {strconv.Itoa(maxBytes + 1), metadata(), 413, "too-large"},
		{"10", "", 422, "invalid-name"}, {"10", "filename", 422, "invalid-name"},
		{"10", metadata("filename", "\x00"), 422, "invalid-name"},
		{"10", metadata("project", ""), 422, "invalid-project"}, {"10", metadata("build", "\x00"), 422, "invalid-build"},
		{"10", metadata("sequence", "x"), 422, "invalid-sequence"},
		{"10", metadata("branch", "a\x00"), 422, "invalid-branch"}, {"10", metadata("run", "\xff"), 422, "invalid-run"},
		{"10", "filename !!", 400, "invalid-upload-metadata"}, {"10", metadata() + ",,", 400, "invalid-upload-metadata"},
		{"10", metadata() + ",filename YQ==", 400, "invalid-upload-metadata"},
		{"10", metadata("x", strings.Repeat("y", 9000)), 400, "invalid-upload-metadata"},
		{"10", metadata() + ",\xc3\xa4 YQ==", 400, "invalid-upload-metadata"},
	} {
		header := []string{"Tus-Resumable", "1.0.0", "Upload-Metadata", test.metadata}
		if test.length != "" {
			header = append(header, "Upload-Length", test.length)
		}
		n.do("POST", "/api/v1/evidence", nil, header...).want(t, test.status, test.code)
	}
	n.do("POST", "/api/v1/evidence", nil, "Tus-Resumable", "1.0.0", "Upload-Length", "5", "Upload-Length", "6",
		"Upload-Metadata", metadata()).want(t, 400, "invalid-upload-length")
	a := n.do("POST", "/api/v1/evidence", nil, "Upload-Length", "5").want(t, 412, "unsupported-tus-version")
	if a.Header.Get("Tus-Version") != "1.0.0" || a.Header.Get("Tus-Resumable") != "1.0.0" {
		t.Errorf("%v", a.Header)
	}
	n.nothingStored()
	// Both names of the field, characters of any language, and keys that are not ours are fine.
	upload := n.do("POST", "/api/v1/evidence", nil, "Tus-Resumable", "1.0.0", "Upload-Length", "5",
		"Upload-Metadata", "project "+base64.StdEncoding.EncodeToString([]byte("приложение"))+
			",build MQ==,name YS50eHQ=,filetype").want(t, 201, "").Header.Get("Location")
	n.head(upload).want(t, 200, "")
	n.head(n.create(maxBytes)).want(t, 200, "") // the largest file there may be
}

func TestTusHostileRequests(t *testing.T) {
	n := start(t)
	upload := n.create(10)
	for _, test := range []struct {
		upload, version, contentType, offset string
		status                               int
		code                                 string
	}{
		{upload, "", offsetStream, "0", 412, "unsupported-tus-version"},
		{upload, "0.2.2", offsetStream, "0", 412, "unsupported-tus-version"},
		{upload, "1.0.0", "application/octet-stream", "0", 415, "wrong-content-type"},
		{upload, "1.0.0", ";", "0", 415, "wrong-content-type"},
		{upload, "1.0.0", offsetStream, "", 400, "invalid-upload-offset"},
		{upload, "1.0.0", offsetStream, "-1", 400, "invalid-upload-offset"},
		{upload, "1.0.0", offsetStream, "0x0", 400, "invalid-upload-offset"},
		{upload, "1.0.0", offsetStream, "5", 409, "offset-mismatch"},
		{upload, "1.0.0", offsetStream, "9223372036854775807", 409, "offset-mismatch"},
		{"/api/v1/evidence/AAAAAAAAAAAAAAAAAAAAAAAAAA", "1.0.0", offsetStream, "0", 404, "not-found"},
		{"/api/v1/evidence/..%2f..%2fincoming", "1.0.0", offsetStream, "0", 404, "not-found"},
		{"/api/v1/evidence/%00", "1.0.0", offsetStream, "0", 404, "not-found"},
	} {
		n.do("PATCH", test.upload, strings.NewReader("abc"), "Tus-Resumable", test.version, "Content-Type", test.contentType,
			"Upload-Offset", test.offset).want(t, test.status, test.code)
	}
	n.patch(upload, 0, strings.NewReader("more than announced")).want(t, 413, "too-large")
	n.patch(upload, 0, nil).want(t, 204, "")
	if at := offset(t, n.head(upload).want(t, 200, "")); at != 0 {
		t.Errorf("offset %d after nothing was taken", at)
	}
	n.do("HEAD", upload, nil).want(t, 412, "")
}
