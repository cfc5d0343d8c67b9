package gpu

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// host makes a machine's files, empty where no text is given.
func host(t *testing.T, files map[string]string) Host {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Host{Root: root}
}

func gpuFiles() map[string]string {
	return map[string]string{
		"dev/nvidia0": "", "dev/nvidia1": "", "dev/nvidia2": "", "dev/nvidiactl": "", "dev/nvidia-uvm": "", "dev/nvidia-uvm-tools": "",
		"dev/nvidia-caps/nvidia-cap12": "", "dev/nvidia-caps/nvidia-cap13": "", "dev/nvidia-caps/nvidia-cap21": "", "dev/nvidia-caps/nvidia-cap22": "",
		"proc/driver/nvidia/gpus/0000:07:00.0/information": "Model: \t\t NVIDIA A100\nGPU UUID: \t GPU-a\nDevice Minor: \t 2\n",
		"proc/driver/nvidia/gpus/0000:0f:00.0/information": "Model: \t\t NVIDIA A100\nGPU UUID: \t GPU-b\nDevice Minor: \t 1\n",
		"proc/driver/nvidia-caps/mig-minors":               "config 1\nmonitor 2\ngpu1/gi1/access 12\ngpu1/gi1/ci0/access 13\ngpu1/gi2/access 21\ngpu1/gi2/ci0/access 22\n",
		"usr/lib/x86_64-linux-gnu/libcuda.so.1":            "", "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1": "",
		"usr/lib/x86_64-linux-gnu/libnvidia-container.so.1": "", "usr/lib/x86_64-linux-gnu/libcudart.so.12": "", "usr/bin/nvidia-smi": "",
		"opt/driver/libcuda.so": "", "opt/driver/libcuda32.so": "",
		"etc/ld.so.cache": string(loaderCache(
			library{0x0303, "/opt/driver/libcuda.so"}, library{0x0003, "/opt/driver/libcuda32.so"}, library{0x0303, "/lib/libc.so.6"},
			library{0x0303, "/opt/driver/libcuda.so.gone"})),
	}
}

type library struct {
	flags uint32
	path  string
}

// loaderCache writes what ldconfig writes, after some of the older layout.
func loaderCache(libraries ...library) []byte {
	var entries, texts bytes.Buffer
	offset := cacheHeader + cacheEntry*len(libraries)
	for _, l := range libraries {
		entry := make([]byte, cacheEntry)
		binary.NativeEndian.PutUint32(entry, l.flags)
		binary.NativeEndian.PutUint32(entry[8:], uint32(offset+texts.Len()))
		entries.Write(entry)
		texts.WriteString(l.path + "\x00")
	}
	header := make([]byte, cacheHeader)
	copy(header, cacheMagic)
	binary.NativeEndian.PutUint32(header[len(cacheMagic):], uint32(len(libraries)))
	return slices.Concat([]byte("ld.so-1.7.0\x00\x00\x00\x00\x00"), header, entries.Bytes(), texts.Bytes())
}

func TestGrant(t *testing.T) {
	shared := []string{"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"}
	m := machine()
	withMinor := m[4]
	withMinor.Minor = new(0)
	for _, tc := range []struct {
		name           string
		devices        []Device
		nodes          []string
		visible, alone string // CUDA_VISIBLE_DEVICES
	}{
		{"by the driver's table", []Device{m[0]}, []string{"/dev/nvidia2"}, "0", "0"},
		{"by the sample", []Device{withMinor}, []string{"/dev/nvidia0"}, "2", "0"},
		{"two", []Device{m[0], withMinor}, []string{"/dev/nvidia2", "/dev/nvidia0"}, "0,2", "0,1"},
		{"instances of one GPU", []Device{m[2], m[3]}, []string{
			"/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap12", "/dev/nvidia-caps/nvidia-cap13",
			"/dev/nvidia-caps/nvidia-cap21", "/dev/nvidia-caps/nvidia-cap22"}, "MIG-b0,MIG-b1", "MIG-b0,MIG-b1"},
		{"an instance and a GPU", []Device{m[0], m[3]}, []string{
			"/dev/nvidia2", "/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap21", "/dev/nvidia-caps/nvidia-cap22"}, "GPU-a,MIG-b1", "GPU-a,MIG-b1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g, err := host(t, gpuFiles()).Grant(tc.devices)
			if err != nil {
				t.Fatal(err)
			}
			if want := slices.Concat(tc.nodes, shared); !slices.Equal(g.Nodes, want) {
				t.Errorf("nodes %q, want %q", g.Nodes, want)
			}
			if want := []string{"/opt/driver/libcuda.so", "/usr/bin/nvidia-smi", "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"}; !slices.Equal(g.Libraries, want) {
				t.Errorf("libraries %q, want %q", g.Libraries, want)
			}
			for isolated, want := range map[bool]string{false: tc.visible, true: tc.alone} {
				if env := g.Env(isolated); !slices.Contains(env, "CUDA_VISIBLE_DEVICES="+want) || !slices.Contains(env, "CUDA_DEVICE_ORDER=PCI_BUS_ID") {
					t.Errorf("isolated %v: %q, want %s", isolated, env, want)
				}
			}
		})
	}
}

func TestGrantNothing(t *testing.T) {
	g, err := host(t, gpuFiles()).Grant(nil)
	if err != nil || len(g.Nodes) > 0 || len(g.Libraries) > 0 || !slices.Contains(g.Env(true), "CUDA_VISIBLE_DEVICES=") {
		t.Errorf("got %+v, %q, %v", g, g.Env(true), err)
	}
}

func TestGrantWSL(t *testing.T) {
	g, err := host(t, map[string]string{"dev/dxg": "", "usr/lib/wsl/lib/libcuda.so.1": "", "usr/lib/wsl/lib/libdxcore.so": ""}).Grant(machine()[:1])
	if err != nil || !slices.Equal(g.Nodes, []string{"/dev/dxg"}) || len(g.Libraries) != 2 {
		t.Errorf("got %+v, %v", g, err)
	}
}

func TestGrantMissing(t *testing.T) {
	for missing, want := range map[string]string{
		"dev/nvidia2":                        "the device node /dev/nvidia2 is missing",
		"dev/nvidia-uvm":                     "nvidia-modprobe -u -c 0",
		"proc/driver/nvidia-caps/mig-minors": "reading its capabilities",
		"dev/nvidia-caps/nvidia-cap12":       "nvidia-cap12 is missing",
	} {
		files := gpuFiles()
		delete(files, missing)
		_, err := host(t, files).Grant([]Device{machine()[0], machine()[2]})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without %s: %v, want it to say %q", missing, err, want)
		}
	}
}

// TestLoaderCache reads this machine's own cache and compares with ldconfig.
func TestLoaderCache(t *testing.T) {
	cache, err := os.ReadFile("/etc/ld.so.cache")
	if err != nil {
		unavailable(t, "no loader cache here: "+err.Error())
	}
	ldconfig := "/sbin/ldconfig"
	out, err := exec.Command(ldconfig, "-p").Output()
	if err != nil {
		unavailable(t, "running "+ldconfig+" -p: "+err.Error())
	}
	var want []string
	for line := range strings.Lines(string(out)) {
		if _, path, ok := strings.Cut(line, " => "); ok && strings.Contains(line, "64") {
			want = append(want, strings.TrimSpace(path))
		}
	}
	if got := cachedLibraries(cache); len(got) == 0 || !slices.Equal(got, want) {
		t.Errorf("got %d libraries, ldconfig has %d", len(got), len(want))
	}
}

// unavailable skips a test whose tool is absent, or fails it where tools must
// be there.
func unavailable(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("PROCTOR_TEST_REQUIRE") == "1" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

func FuzzLoaderCache(f *testing.F) {
	f.Add(loaderCache(library{0x0303, "/opt/libcuda.so"}, library{0x0003, "/lib/libc.so.6"}))
	f.Add([]byte(cacheMagic))
	f.Fuzz(func(t *testing.T, cache []byte) {
		for _, name := range cachedLibraries(cache) {
			if !filepath.IsAbs(name) || strings.ContainsRune(name, 0) {
				t.Errorf("%q is no path", name)
			}
		}
	})
}
