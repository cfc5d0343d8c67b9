//go:build !linux

package outputs

import "os"

func openBeneath(root *os.File, name string, flags int, mode uint32) (*os.File, error) {
	return walkBeneath(root, name, flags, mode)
}
