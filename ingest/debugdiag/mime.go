package debugdiag

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/textproto"
	"strings"

	"heapdrift/ingest/evidence"
)

const (
	sourceBlock = 64 << 10
	maxHeader   = 64 << 10 // bytes of the header of the document
	maxNested   = 4        // multiparts in multiparts: saving and mailing a report add one each
)

// unwrap finds the page of a report: the file itself, or the first text/html part of a MIME document. What it returns
// is UTF-8 without a byte order mark. Of its errors those that the source has not given itself are an *evidence.Error.
func unwrap(src *source) (io.Reader, error) {
	in := bufio.NewReaderSize(src, sourceBlock)
	if err := skipBlank(in); err != nil {
		return nil, &evidence.Error{Code: CodeNoData, Message: "the report is empty",
			Do: "upload the .mht file that its analysis wrote", Offset: src.offset}
	}
	start, _ := in.Peek(256)
	if !isHeader(start) {
		return decodeText(in), nil
	}
	part := htmlPart(documentHeader(in), in, 0)
	if part == nil {
		return nil, &evidence.Error{Code: CodeNoPage, Message: "the MIME document has no part that is text/html",
			Do: "upload the .mht file as DebugDiag's analysis wrote it", Offset: src.offset}
	}
	return decodeText(bufio.NewReaderSize(part, sourceBlock)), nil
}

// skipBlank passes over empty lines and padding. What it returns is the error of an empty file.
func skipBlank(in *bufio.Reader) error {
	for {
		c, err := in.ReadByte()
		if err != nil {
			return err
		}
		if strings.IndexByte(" \t\r\n\x00", c) < 0 {
			return in.UnreadByte()
		}
	}
}

// isHeader reports whether text begins as a MIME document does: with the name of a field and a colon.
func isHeader(text []byte) bool {
	text = bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF"))
	for i, c := range text {
		switch {
		case c == ':':
			return i > 0
		case c|0x20 < 'a' || c|0x20 > 'z':
			if c != '-' && (c < '0' || c > '9') {
				return false
			}
		}
	}
	return false
}

// documentHeader reads the fields up to the empty line, as far as they are well-formed. Of one that never ends it reads
// maxHeader bytes.
func documentHeader(in *bufio.Reader) textproto.MIMEHeader {
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\xEF\xBB\xBF")) {
		_, _ = in.Discard(3) // they were just seen
	}
	var text []byte
	for len(text) < maxHeader {
		line, err := in.ReadSlice('\n')
		text = append(text, line...)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) || len(bytes.TrimSpace(line)) == 0 {
			break
		}
	}
	// A field that is none ends the reading of the header, not of the document.
	header, _ := textproto.NewReader(bufio.NewReader(bytes.NewReader(append(text, "\r\n\r\n"...)))).ReadMIMEHeader()
	return header
}

// htmlPart returns the body of the first text/html part at or below the one with the given header, or nil. A document
// that breaks off has no further part, and its page ends early.
func htmlPart(header textproto.MIMEHeader, body io.Reader, depth int) io.Reader {
	kind, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil && kind == "" { // the parameters are damaged beyond what the parser forgives
		kind, _, _ = strings.Cut(strings.ToLower(header.Get("Content-Type")), ";")
		kind = strings.TrimSpace(kind)
	}
	switch {
	case kind == "text/html":
		return decodeTransfer(header.Get("Content-Transfer-Encoding"), body)
	case !strings.HasPrefix(kind, "multipart/") || params["boundary"] == "" || depth == maxNested:
		return nil
	}
	parts := multipart.NewReader(body, params["boundary"])
	for {
		part, err := parts.NextRawPart()
		if err != nil {
			return nil
		}
		if found := htmlPart(part.Header, part, depth+1); found != nil {
			return found
		}
	}
}

func decodeTransfer(encoding string, body io.Reader) io.Reader {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "quoted-printable":
		return quotedprintable.NewReader(body)
	case "base64":
		return base64.NewDecoder(base64.StdEncoding, body)
	}
	return body
}
