package accounts

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"strings"
	"time"
)

// A Secret is what opens something and is shown once. The store keeps its digest only.
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

// NewToken makes the token of a CI job: "hd_", 130 random bits, and a checksum by which scanners of secrets and the
// server tell it from a slip of the keyboard.
func NewToken() (token Secret, prefix string) {
	random := rand.Text()
	text := tokenPrefix + random + checksum(random)
	return Secret{text, digestOf(text)}, text[:shownPrefix]
}

// TokenDigest is what the store knows a token by; false for what no token can be.
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

// LinkDigest is what the store knows a link by; false for what no link can be.
func LinkDigest(text string) ([]byte, bool) {
	if len(text) != randomText {
		return nil, false
	}
	return digestOf(text), true
}

func digestOf(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// ShortSum is a number that tells texts apart where they are no names. It guards nothing.
func ShortSum(text string) uint32 { return crc32.ChecksumIEEE([]byte(text)) }
