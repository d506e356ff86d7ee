package api

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/accounts"
	"heapdrift/internal/intake"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/uploadstore"
	"heapdrift/web/problem"
)

// maxMetadata is how long an Upload-Metadata header may be, in bytes.
const maxMetadata = 8 << 10

// kindSymbols is the kind of an upload of symbols; any other is one of evidence.
const kindSymbols = "symbols"

// pendingUpload is what an upload's row keeps of its creation.
type pendingUpload struct {
	leaks.UploadTarget
	Kind     string `json:"kind,omitempty"`
	Group    string `json:"group,omitempty"` // of symbols
	Name     string `json:"name"`
	Metadata string `json:"metadata"` // as the client sent it; HEAD gives it back
}

// uploadCreate handles POST /api/v1/evidence: it checks what is announced and gives the upload an address.
func (a *API) uploadCreate(c echo.Context) error {
	r := c.Request()
	length, err := byteCount(r, headerLength)
	if err != nil {
		return err
	}
	upload, err := announced(r.Header)
	if err != nil {
		return err
	}
	upload.Urgent = awaited(r)
	if length == 0 {
		return &evidence.Error{Code: evidence.CodeEmptyFile, File: upload.Name, Message: "the file is empty",
			Do: "check that the tool that made it ran to its end"}
	}
	if limit := a.intake.MaxBytes; limit > 0 && length > limit {
		return intake.ErrTooLarge
	}
	if err := a.intake.CheckQuota(r.Context(), length); err != nil {
		return err
	}
	text, err := json.Marshal(upload)
	if err != nil {
		return fmt.Errorf("api: create upload: %w", err)
	}
	id := rand.Text()
	if err := uploadstore.CreateUpload(r.Context(), a.store, uploadstore.Upload{
		ID: id, Length: length, Target: text}); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, "/api/v1/evidence/"+id)
	return c.NoContent(http.StatusCreated)
}

// announced reads what the metadata of a new upload say about the file.
func announced(header http.Header) (pendingUpload, error) {
	raw := strings.Join(header.Values(headerMetadata), ",") // a list, so it may come in several headers
	fields, err := parseMetadata(raw)
	if err != nil {
		return pendingUpload{}, err
	}
	upload := pendingUpload{Metadata: raw, Name: fields["filename"], Kind: fields["kind"]}
	if upload.Name == "" {
		upload.Name = fields["name"]
	}
	// The database takes no NUL in text; intake drops all control characters from names anyway.
	if upload.Name = strings.ToValidUTF8(strings.ReplaceAll(upload.Name, "\x00", ""),
		"_"); strings.TrimSpace(upload.Name) == "" {
		return pendingUpload{},
			problem.Invalid("name", "name: is missing: give the file's name as filename in %s", headerMetadata)
	}
	switch upload.Kind {
	case kindSymbols: // they belong to no run
		upload.Group = fields["group"]
		return upload, intake.CheckGroup(upload.Group)
	case "", "evidence":
	default:
		return upload, problem.Invalid("kind", "kind: %q is neither evidence nor symbols", upload.Kind)
	}
	upload.UploadTarget, err = leaks.UploadTargetOf(func(name string) string { return fields[name] })
	return upload, err
}

// awaited reports whether a person waits for the report of what a request uploads: a page has sent it, and no token.
// Browsers say where a request comes from, and no page can change that (Fetch Metadata, W3C); a program may write the
// header too, so that it counts for nothing beside a token.
func awaited(r *http.Request) bool {
	actor := accounts.ActorFrom(r.Context())
	return actor.TokenID == 0 && r.Header.Get("Sec-Fetch-Site") != ""
}

// parseMetadata reads an Upload-Metadata header: keys and base64 values, "filename ZHVtcC50eHQ=,project Yg==".
func parseMetadata(raw string) (map[string]string, error) {
	fail := func(format string, args ...any) error {
		p := problem.Invalid("upload-metadata", headerMetadata+": "+format, args...)
		p.Status = http.StatusBadRequest
		return p
	}
	if len(raw) > maxMetadata {
		return nil, fail("at most %d bytes", maxMetadata)
	}
	if strings.ContainsFunc(raw, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, fail("only printable ASCII characters; values are base64")
	}
	fields := map[string]string{}
	if strings.TrimSpace(raw) == "" {
		return fields, nil
	}
	for pair := range strings.SplitSeq(raw, ",") {
		key, encoded, _ := strings.Cut(strings.TrimSpace(pair), " ")
		value, err := base64.StdEncoding.DecodeString(encoded)
		switch _, twice := fields[key]; {
		case key == "":
			return nil, fail("a key is missing")
		case twice:
			return nil, fail("%q is there twice", key)
		case err != nil:
			return nil, fail("the value of %q is not base64", key)
		}
		fields[key] = string(value)
	}
	return fields, nil
}
