package queue

// BeforeClaim has a node call f between taking a task from the broker and claiming its job.
func BeforeClaim(n *Node, f func()) { n.beforeClaim = f }

// Stopping reports whether a node has begun to stop.
func Stopping(n *Node) bool { return n.stopping.Load() }
