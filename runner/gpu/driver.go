package gpu

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// driverPrefixes begin the names of the libraries that come with the kernel
// driver and must match it; everything else of CUDA belongs to the programs.
var driverPrefixes = []string{
	"libcuda.so", "libcudadebugger.so", "libnvidia-", "libnvcuvid.so", "libnvoptix.so", "libdxcore.so",
}

// driverDirs are searched besides the loader's cache, which a container or a
// distribution of its own kind may lack.
var driverDirs = []string{
	"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/lib64",
	"/usr/local/nvidia/lib64", "/usr/lib/wsl/lib", "/run/opengl-driver/lib", "/run/nvidia/driver/usr/lib64",
}

// driverTools are programs that a person expects beside the libraries.
var driverTools = []string{"/usr/bin/nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi", "/usr/local/nvidia/bin/nvidia-smi"}

// driverFiles returns the paths of the driver's libraries and tools, sorted.
func (h Host) driverFiles() []string {
	var files []string
	if cache, err := os.ReadFile(h.path("/etc/ld.so.cache")); err == nil {
		for _, name := range cachedLibraries(cache) {
			if isDriver(filepath.Base(name)) && h.exists(name) {
				files = append(files, filepath.Clean(name))
			}
		}
	}
	for _, dir := range driverDirs {
		entries, err := os.ReadDir(h.path(dir))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if name := filepath.Join(dir, e.Name()); isDriver(e.Name()) && h.exists(name) {
				files = append(files, name)
			}
		}
	}
	for _, tool := range driverTools {
		if h.exists(tool) {
			files = append(files, tool)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

func isDriver(name string) bool {
	if strings.HasPrefix(name, "libnvidia-container") { // a tool's, not the driver's
		return false
	}
	return strings.Contains(name, ".so") && slices.ContainsFunc(driverPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// The layout of the loader's cache (glibc's dl-cache.h): a header, then
// entries that give a library's kind and, as offsets from the header, its
// name and path. An older layout may precede it in the file.
const (
	cacheMagic  = "glibc-ld.so.cache1.1"
	cacheHeader = 48
	cacheEntry  = 24
	kindMask    = 0xff00 // of an entry's flags: 0 is 32 bit
)

// cachedLibraries returns the paths of the 64 bit libraries in the loader's
// cache. A damaged cache gives what can be read of it.
func cachedLibraries(cache []byte) []string {
	start := bytes.Index(cache, []byte(cacheMagic))
	if start < 0 {
		return nil
	}
	cache = cache[start:]
	if len(cache) < cacheHeader {
		return nil
	}
	count := int(binary.NativeEndian.Uint32(cache[len(cacheMagic):]))
	var names []string
	for at := cacheHeader; count > 0 && at+cacheEntry <= len(cache); count, at = count-1, at+cacheEntry {
		flags, value := binary.NativeEndian.Uint32(cache[at:]), binary.NativeEndian.Uint32(cache[at+8:])
		if flags&kindMask == 0 || int64(value) >= int64(len(cache)) {
			continue
		}
		name, _, ended := bytes.Cut(cache[value:], []byte{0})
		if ended && len(name) > 0 && name[0] == '/' {
			names = append(names, string(name))
		}
	}
	return names
}
