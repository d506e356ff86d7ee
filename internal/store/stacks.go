package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
	"heapdrift/internal/store/internal/db"
)

// A digest identifies content.
type digest = [16]byte

// frameHash is the content of a frame as it is shown, without the address, which differs in every process.
func frameHash(f *analysis.Frame) digest {
	var b []byte
	for _, s := range []string{f.Module, f.Function, f.Offset, f.File, string(f.Layer)} {
		b = append(b, s...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
	}
	b = binary.LittleEndian.AppendUint32(b, f.Line)
	if f.Inline {
		b = append(b, 1)
	}
	b = append(b, bareAddress(f)...)
	b = append(append(b, 0), f.Rule...)
	sum := sha256.Sum256(b)
	return digest(sum[:16])
}

// bareAddress is the address of a frame that nothing else tells; other frames have another one in every process.
func bareAddress(f *analysis.Frame) string {
	if f.Module == "" && f.Function == "" {
		return f.Address
	}
	return ""
}

// siteStacks are the ids of a site's stacks; stack is nil where it has none.
type siteStacks struct {
	stack   *int64
	aliases []int64
}

// hashing remembers the hashes of a report's frames, which many stacks share, by their numbers.
type hashing struct {
	stacks *analysis.Stacks
	known  []bool
	hashes []digest
}

func newHashing(stacks *analysis.Stacks) *hashing {
	return &hashing{stacks, make([]bool, stacks.FrameCount()), make([]digest, stacks.FrameCount())}
}

func (h *hashing) frame(number uint32) digest {
	if !h.known[number] {
		h.known[number], h.hashes[number] = true, frameHash(h.stacks.Frame(number))
	}
	return h.hashes[number]
}

func (h *hashing) stack(stack []uint32) digest {
	b := make([]byte, 0, 16*64)
	for _, number := range stack {
		hash := h.frame(number)
		b = append(b, hash[:]...)
	}
	sum := sha256.Sum256(b)
	return digest(sum[:16])
}

// internStacks stores the frames and stacks of all sites that are not stored yet and returns the ids of each site's.
// Frames are looked at only where their stack is new.
func (s *Store) internStacks(ctx context.Context, r *analysis.Report) ([]siteStacks, error) {
	sites, h, stacks := r.Sites, newHashing(r.Stacks), map[digest][]uint32{}
	hashes := make([][]digest, len(sites)) // of each site: its stack's, where it has one, then its aliases'
	for i := range sites {
		add := func(ref analysis.StackRef) {
			if stack := r.Stacks.FrameNumbers(ref); len(stack) > 0 {
				hash := h.stack(stack)
				hashes[i] = append(hashes[i], hash)
				stacks[hash] = stack
			}
		}
		add(sites[i].Stack)
		for _, alias := range sites[i].AliasStacks {
			add(alias)
		}
	}
	ids := map[digest]int64{}
	err := db.Tx(ctx, s, "intern stacks", func(tx pgx.Tx) error {
		missing, err := lookUp(ctx, tx, "stacks", slices.Collect(maps.Keys(stacks)), ids)
		if err != nil || len(missing) == 0 {
			return err
		}
		frames := map[digest]uint32{}
		for _, hash := range missing {
			for _, number := range stacks[hash] {
				frames[h.frame(number)] = number
			}
		}
		frameIDs := make(map[digest]int64, len(frames))
		err = intern(ctx, tx, frameTable, slices.Collect(maps.Keys(frames)), frameIDs, func(hash digest) []any {
			f := r.Stacks.Frame(frames[hash])
			return []any{f.Module, f.Function, f.Offset, f.File, int64(f.Line), f.Inline,
				string(f.Layer), bareAddress(f), f.Rule}
		})
		if err != nil {
			return err
		}
		return intern(ctx, tx, stackTable, missing, ids, func(hash digest) []any {
			list := make([]int64, len(stacks[hash]))
			for i, number := range stacks[hash] {
				list[i] = frameIDs[h.frame(number)]
			}
			return []any{list}
		})
	})
	if err != nil {
		return nil, err
	}
	list := make([]siteStacks, len(sites))
	for i := range sites {
		list[i].aliases = []int64{}
		for k, hash := range hashes[i] {
			id := ids[hash]
			if k == 0 && sites[i].Stack != 0 {
				list[i].stack = &id
				continue
			}
			list[i].aliases = append(list[i].aliases, id)
		}
	}
	return list, nil
}
