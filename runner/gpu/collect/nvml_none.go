//go:build !linux || !cgo

package collect

// openNVML reports that this build cannot load the driver's library.
func openNVML() (source, error) {
	return nil, noGPU("this build cannot load NVIDIA's library, for which it needs Linux and cgo")
}
