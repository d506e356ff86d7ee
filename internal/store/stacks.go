package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"heapdrift/internal/analysis"
)

// frameHash is the content of a frame as it is shown, without the address, which differs in every process.
func frameHash(f *analysis.Frame) [16]byte {
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
	return [16]byte(sum[:16])
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
	hashes [][16]byte
}

func newHashing(stacks *analysis.Stacks) *hashing {
	return &hashing{stacks, make([]bool, stacks.FrameCount()), make([][16]byte, stacks.FrameCount())}
}

func (h *hashing) frame(number uint32) [16]byte {
	if !h.known[number] {
		h.known[number], h.hashes[number] = true, frameHash(h.stacks.Frame(number))
	}
	return h.hashes[number]
}

func (h *hashing) stack(stack []uint32) [16]byte {
	b := make([]byte, 0, 16*64)
	for _, number := range stack {
		hash := h.frame(number)
		b = append(b, hash[:]...)
	}
	sum := sha256.Sum256(b)
	return [16]byte(sum[:16])
}

// internStacks stores the frames and stacks of all sites that are not stored yet and returns the ids of each site's.
// Rows are inserted in the order of their hash: two workers that store the same stacks do not block each other.
func (s *Store) internStacks(ctx context.Context, r *analysis.Report) ([]siteStacks, error) {
	sites, h, frames, stacks := r.Sites, newHashing(r.Stacks), map[[16]byte]uint32{}, map[[16]byte][]uint32{}
	hashes := make([][][16]byte, len(sites)) // of each site: its stack's, where it has one, then its aliases'
	for i := range sites {
		for _, ref := range append([]analysis.StackRef{sites[i].Stack}, sites[i].Aliases...) {
			stack := r.Stacks.Numbers(ref)
			if len(stack) == 0 {
				continue
			}
			hash := h.stack(stack)
			hashes[i] = append(hashes[i], hash)
			stacks[hash] = stack
		}
	}
	for number, hash := range h.hashes {
		if h.known[number] {
			frames[hash] = uint32(number)
		}
	}
	var ids map[[16]byte]int64
	err := s.tx(ctx, "intern stacks", func(tx pgx.Tx) error {
		frameIDs, err := intern(ctx, tx, frameTable, frames, func(hash [16]byte, number uint32) []any {
			f := r.Stacks.Frame(number)
			return []any{pgtype.UUID{Bytes: hash, Valid: true}, f.Module, f.Function, f.Offset, f.File, int64(f.Line), f.Inline, string(f.Layer), bareAddress(f), f.Rule}
		})
		if err != nil {
			return err
		}
		ids, err = intern(ctx, tx, stackTable, stacks, func(hash [16]byte, stack []uint32) []any {
			list := make([]int64, len(stack))
			for i, number := range stack {
				list[i] = frameIDs[h.frame(number)]
			}
			return []any{pgtype.UUID{Bytes: hash, Valid: true}, list}
		})
		return err
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

// An internTable is a table of content-addressed rows.
type internTable struct {
	name, create, insert string
	columns              []string
}

var frameTable = internTable{
	name: "frames", create: `create temp table new_frames (like frames) on commit drop`,
	columns: []string{"hash", "module", "function", "offset", "file", "line", "inline", "layer", "address", "rule"},
	insert: `insert into frames (hash, module, function, "offset", file, line, inline, layer, address, rule)
		select hash, module, function, "offset", file, line, inline, layer, address, rule from new_frames order by hash on conflict (hash) do nothing`,
}

var stackTable = internTable{
	name: "stacks", create: `create temp table new_stacks (like stacks) on commit drop`, columns: []string{"hash", "frames"},
	insert: `insert into stacks (hash, frames) select hash, frames from new_stacks order by hash on conflict (hash) do nothing`,
}

// intern stores content-addressed rows and returns the id of each by its hash.
func intern[T any](ctx context.Context, tx pgx.Tx, t internTable, content map[[16]byte]T, row func([16]byte, T) []any) (map[[16]byte]int64, error) {
	hashes := make([][16]byte, 0, len(content))
	for h := range content {
		hashes = append(hashes, h)
	}
	slices.SortFunc(hashes, func(a, b [16]byte) int { return slices.Compare(a[:], b[:]) })
	// "like" copies "not null" of the id as well, which the copy below leaves out.
	if _, err := tx.Exec(ctx, t.create+`; alter table new_`+t.name+` alter column id drop not null`); err != nil {
		return nil, err
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"new_" + t.name}, t.columns, pgx.CopyFromSlice(len(hashes), func(i int) ([]any, error) {
		return row(hashes[i], content[hashes[i]]), nil
	}))
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, t.insert); err != nil {
		return nil, err
	}
	ids := make(map[[16]byte]int64, len(content))
	type stored struct {
		Hash pgtype.UUID
		ID   int64
	}
	list, err := all[stored](ctx, tx, `select t.hash, t.id from `+t.name+` t join new_`+t.name+` n on n.hash = t.hash`)
	for _, s := range list {
		ids[s.Hash.Bytes] = s.ID
	}
	return ids, err
}
