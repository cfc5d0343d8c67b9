//go:build race

package gateway

// big is the size of a reply that is too long, in units of ten bytes. The
// race detector makes work on bytes ten times slower.
const big = 1 << 18
