//go:build !race

package llm

// big is the size of a reply that is too long, in units of ten bytes.
const big = 1 << 20
