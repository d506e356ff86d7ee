package etltest

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
)

// Buffers cuts a whole file into its buffers, the header's first, by the sizes they begin with.
func Buffers(file []byte) [][]byte {
	var all [][]byte
	for len(file) >= bufferHeader {
		size := binary.LittleEndian.Uint32(file)
		if size < bufferHeader || uint64(size) > uint64(len(file)) {
			break
		}
		all = append(all, file[:size])
		file = file[size:]
	}
	return all
}

// Permuted is a file with its buffers behind the first in another order, as several sessions may flush them.
func Permuted(file []byte, seed uint64) []byte {
	all := slices.Clone(Buffers(file))
	rest := all[1:]
	rand.New(rand.NewPCG(seed, 3)).Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	return bytes.Join(all, nil)
}

// Flipped is a copy of the file in which so many bits, drawn by the seed, are inverted.
func Flipped(file []byte, seed uint64, bits int) []byte {
	file = bytes.Clone(file)
	rng := rand.New(rand.NewPCG(seed, 5))
	for range bits {
		file[rng.IntN(len(file))] ^= 1 << rng.IntN(8)
	}
	return file
}
