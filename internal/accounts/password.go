package accounts

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"heapdrift/internal/leaks"
)

// Costs of argon2id: 19 MiB and two passes in one lane, what OWASP's Password Storage Cheat Sheet asks for at least. A
// hash names its own, so that they may rise.
const (
	hashPasses  = 2
	hashMemory  = 19 << 10 // KiB
	hashThreads = 1
	hashBytes   = 32
	saltBytes   = 16

	// Hashes that ask for more than this were not made here.
	mostMemory, mostPasses = 256 << 10, 16
)

const (
	minPassword = 10   // characters
	maxPassword = 1024 // bytes: each is hashed
)

// hashing holds a slot for each hash that may be computed at once: each takes memory and a core.
var hashing = make(chan struct{}, 2)

// CheckPassword refuses passwords that are too short or too long. Its error is a *leaks.FieldError.
func CheckPassword(password string) error {
	switch {
	case utf8.RuneCountInString(password) < minPassword:
		return &leaks.FieldError{Field: "password", Message: fmt.Sprintf("is shorter than %d characters", minPassword)}
	case len(password) > maxPassword:
		return &leaks.FieldError{Field: "password", Message: fmt.Sprintf("is longer than %d bytes", maxPassword)}
	}
	return nil
}

// HashPassword makes what the store keeps of a password: an argon2id hash in the PHC string format.
func HashPassword(ctx context.Context, password string) (string, error) {
	if err := CheckPassword(password); err != nil {
		return "", err
	}
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails
	h := passwordHash{memory: hashMemory, passes: hashPasses, threads: hashThreads, salt: salt}
	sum, err := h.compute(ctx, password, hashBytes)
	if err != nil {
		return "", err
	}
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.memory, h.passes, h.threads,
		encode(salt), encode(sum)), nil
}

// nobodysHash is compared with where there is no account: to find that out takes as long as a wrong password.
const nobodysHash = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// VerifyPassword reports whether the hash was made of the password. An empty hash matches none, and takes as long to
// compare.
func VerifyPassword(ctx context.Context, hash, password string) (bool, error) {
	if len(password) > maxPassword {
		return false, nil
	}
	known := hash != ""
	if !known {
		hash = nobodysHash
	}
	h, err := parseHash(hash)
	if err != nil {
		return false, err
	}
	sum, err := h.compute(ctx, password, len(h.sum))
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(sum, h.sum) == 1 && known, nil
}

// passwordHash is a stored hash taken apart.
type passwordHash struct {
	memory, passes uint32
	threads        uint8
	salt, sum      []byte
}

func (h *passwordHash) compute(ctx context.Context, password string, length int) ([]byte, error) {
	select {
	case hashing <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-hashing }()
	return argon2.IDKey([]byte(password), h.salt, h.passes, h.memory, h.threads, uint32(length)), nil
}

var errHash = errors.New("accounts: a stored hash is not one of argon2id")

// parseHash reads "$argon2id$v=19$m=…,t=…,p=…$salt$sum".
func parseHash(text string) (*passwordHash, error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return nil, errHash
	}
	var h passwordHash
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.memory, &h.passes, &h.threads); err != nil || n != 3 {
		return nil, errHash
	}
	var err error
	if h.salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil {
		return nil, errHash
	}
	if h.sum, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil {
		return nil, errHash
	}
	if h.memory > mostMemory || h.passes > mostPasses || h.passes == 0 || h.threads == 0 ||
		len(h.sum) < 16 || len(h.sum) > 64 {
		return nil, errHash
	}
	return &h, nil
}
