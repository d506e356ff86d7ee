package store

import (
	"context"
	"time"

	"heapdrift/internal/store/internal/db"
)

// A Node is a server or a worker, as it describes itself.
type Node struct {
	ID            string // unique for each process
	Role          string // serve, work, up
	Host          string
	PID           int
	Version       string
	SchemaVersion int64  // version of the schema that it knows
	Slots         int    // most jobs that it runs at once
	Running       int    // how many jobs it runs now
	Says          string // why it takes no more jobs; "" while it does
}

// A NodeRecord is a node with the times of its start and of its last heartbeat.
type NodeRecord struct {
	Node
	StartedAt time.Time
	SeenAt    time.Time
}

// silentAfter is after how long without a word a node counts as gone.
const silentAfter = 20 * time.Second

// IsSilent reports whether a node has said nothing for so long that it may be gone.
func (n *NodeRecord) IsSilent(now time.Time) bool { return now.Sub(n.SeenAt) > silentAfter }

// forgetNodes is the time without a sign of life after which a node is forgotten.
const forgetNodes = time.Hour

// UpdateNode records a heartbeat of a node, and deletes nodes without one for long.
func (s *Store) UpdateNode(ctx context.Context, n Node) error {
	_, err := db.LeaseConns(s).Exec(ctx, `
		insert into nodes (id, role, host, pid, version, schema, slots, running, says)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		on conflict (id) do update set running = excluded.running, says = excluded.says, seen_at = now()`,
		n.ID, n.Role, n.Host, n.PID, n.Version, n.SchemaVersion, n.Slots, n.Running, n.Says)
	if err == nil {
		_, err = db.LeaseConns(s).Exec(ctx, `delete from nodes where seen_at < now() - $1::interval`, forgetNodes)
	}
	return db.Wrap("see node", err)
}

// DeleteNode deletes a node that ends.
func (s *Store) DeleteNode(ctx context.Context, id string) error {
	_, err := db.LeaseConns(s).Exec(ctx, `delete from nodes where id = $1`, id)
	return db.Wrap("forget node", err)
}

// ListNodes lists the servers and workers with a recent heartbeat.
func (v View) ListNodes(ctx context.Context) ([]NodeRecord, error) {
	list, err := db.All[NodeRecord](ctx, db.Q(v),
		`select id, role, host, pid, version, schema as schema_version, slots, running, says, started_at, seen_at from nodes order by role, host, started_at, id`)
	return list, db.Wrap("nodes", err)
}

// A SymbolSourceAnswer counts how often a place that was asked for symbol files gave one answer.
type SymbolSourceAnswer struct {
	Place  string
	Result string
	Count  int64
	LastAt time.Time
}

// UpdateSymbolSources adds to the counts.
func (s *Store) UpdateSymbolSources(ctx context.Context, answers []SymbolSourceAnswer) error {
	for _, a := range answers {
		_, err := db.LeaseConns(s).Exec(ctx, `
			insert into symbol_places (place, result, count) values ($1, $2, $3)
			on conflict (place, result) do update set count = symbol_places.count + excluded.count, last_at = now()`, a.Place, a.Result, a.Count)
		if err != nil {
			return db.Wrap("note places", err)
		}
	}
	return nil
}

// ListSymbolSources lists the counts.
func (v View) ListSymbolSources(ctx context.Context) ([]SymbolSourceAnswer, error) {
	list, err := db.All[SymbolSourceAnswer](ctx, db.Q(v),
		`select place, result, count, last_at from symbol_places order by place, count desc, result limit 200`)
	return list, db.Wrap("places", err)
}
