package accounts

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"strings"
	"time"
)

// A Secret gives access to something, and is shown once. The store keeps its digest only.
type Secret struct {
	Text   string
	Digest []byte // SHA-256 of the text
}

const (
	tokenPrefix = "hd_"
	// shownPrefix is how much of a token lists show, so that its owner finds it again: 25 bits of 130 say nothing.
	shownPrefix = len(tokenPrefix) + 5
	randomText  = 26 // characters of rand.Text, five bits each
)

// NewToken makes the token of a CI job: "hd_", 130 random bits, and a checksum by which secret scanners recognise it
// and the server recognises typing errors. The prefix is the beginning of the text, which lists show.
func NewToken() (token Secret, prefix string) {
	random := rand.Text()
	text := tokenPrefix + random + checksum(random)
	return Secret{text, digestOf(text)}, text[:shownPrefix]
}

// TokenDigest is the digest by which the store finds a token; false if the text cannot be a token.
func TokenDigest(text string) ([]byte, bool) {
	rest, ok := strings.CutPrefix(text, tokenPrefix)
	if !ok || len(rest) != randomText+8 || checksum(rest[:randomText]) != rest[randomText:] {
		return nil, false
	}
	return digestOf(text), true
}

func checksum(text string) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(text))) }

// LinkAge is how long a link that opens an account is good for.
const LinkAge = 72 * time.Hour

// NewLink makes the secret of a link that opens an account, once.
func NewLink() Secret {
	text := rand.Text()
	return Secret{text, digestOf(text)}
}

// LinkDigest is the digest by which the store finds a link; false if the text cannot be a link.
func LinkDigest(text string) ([]byte, bool) {
	if len(text) != randomText {
		return nil, false
	}
	return digestOf(text), true
}

// DeviceAge is how long a browser stays known after a log-in.
const DeviceAge = 180 * 24 * time.Hour

// NewDevice makes the secret by which a browser is known after a log-in. It opens nothing.
func NewDevice() Secret { return NewLink() }

// DeviceDigest is what the store knows a browser by; nil for what no secret of a browser can be.
func DeviceDigest(text string) []byte {
	digest, _ := LinkDigest(text)
	return digest
}

func digestOf(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// ShortSum is a 32-bit checksum of a text. It tells texts apart where nobody tries to deceive, and is no protection.
func ShortSum(text string) uint32 { return crc32.ChecksumIEEE([]byte(text)) }
