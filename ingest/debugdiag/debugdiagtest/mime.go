package debugdiagtest

import (
	"bytes"
	"fmt"
)

// MIME is the report as the file that DebugDiag writes.
func (r *Report) MIME() []byte { return Wrap(r.HTML(), "__ANALYZER_REPORT_BOUNDARY__") }

// Wrap makes a MIME document of a page, with the given boundary between its parts.
func Wrap(page []byte, boundary string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "MIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n\tboundary=\"%s\";\r\n\ttype=\"text/html\"\r\n\r\nThis is a multi-part message in MIME format.\r\n\r\n", boundary)
	fmt.Fprintf(&b, "--%s\r\nContent-Type: text/html;\r\n\tcharset=\"utf-8\"\r\nContent-Transfer-Encoding: quoted-printable\r\nContent-Location: file:///C:/Report.htm\r\n\r\n", boundary)
	quote(&b, append([]byte("\xEF\xBB\xBF"), page...))
	fmt.Fprintf(&b, "=00=00=00\r\n\r\n\r\n--%s\r\nContent-Type: image/gif\r\nContent-Transfer-Encoding: base64\r\nContent-Location: file:///C:/res/icon.png\r\n\r\nR0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==\r\n\r\n", boundary)
	fmt.Fprintf(&b, "--%s\r\nContent-Type: text/css;\r\n\tcharset=\"utf-8\"\r\nContent-Transfer-Encoding: quoted-printable\r\nContent-Location: file:///C:/res/default.css\r\n\r\nbody{font-family:sans-serif}\r\n\r\n--%s--", boundary, boundary)
	return b.Bytes()
}

// quote writes quoted-printable text: line ends of the text are =0D=0A, and the only real ones are soft breaks.
func quote(b *bytes.Buffer, text []byte) {
	column := 0
	for _, c := range text {
		switch {
		case column > 66 && (c == ' ' || c == '\t'):
			fmt.Fprintf(b, "=%02X", c) // a blank at the end of a line would be lost
			column += 3
		case c < ' ' && c != '\t' || c > '~' || c == '=':
			fmt.Fprintf(b, "=%02X", c)
			column += 3
		default:
			b.WriteByte(c)
			column++
		}
		if column > 68 {
			b.WriteString("=\r\n")
			column = 0
		}
	}
}
