package queue

// BeforeClaim has a node call f between taking a task from the broker and claiming its job.
func BeforeClaim(n *Node, f func()) { n.beforeClaim = f }
