/*
 * A stand-in for NVIDIA's libnvidia-ml.so.1, for tests. Eight GPUs whose
 * figures are a function of their index; the environment says what goes wrong:
 *
 *   NVML_INIT=9      nvmlInit returns this error
 *   NVML_OURS=1,2    process ids that use GPU 0 (85 %, 58 GiB) and GPU 1
 *   NVML_OTHERS=3    process ids that use GPU 0 (2 %, 3 GiB)
 *                    @word instead of a number: those with it in their command line
 *   NVML_EVERYWHERE=1  those of NVML_OURS use every GPU
 *   NVML_MIG=7       this GPU is divided into two instances
 *   NVML_LOST=3:10   GPU 3 is lost after ten samples
 *   NVML_RELOAD=4    the driver is unloaded after four samples
 *   NVML_HANG=5      the call that begins the sixth sample never returns
 *   NVML_XID=79      one Xid is reported, by GPU 2
 *
 * Compiled with -DDAMAGED it has no nvmlInit at all, with -DOLD it lacks
 * what an old driver lacks.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7, TIMEOUT = 10, LOST = 15 };
enum { GPUS = 8, INSTANCES = 2 };
#define GIB ((uint64_t)1 << 30)

typedef struct device {
	int index, instance; /* instance: -1 for a whole GPU */
	int samples;
} device;

static device gpus[GPUS], instances[GPUS][INSTANCES];
static int initialized, xid_pending;

static long setting(const char *name, long otherwise) {
	const char *v = getenv(name);
	return v && *v ? atol(v) : otherwise;
}

static int divided(const device *d) { return d->instance < 0 && d->index == setting("NVML_MIG", -1); }

/* state is the error that any call about a device gives now. */
static int state(const device *d) {
	if (!initialized) return UNINITIALIZED;
	if (gpus[0].samples > setting("NVML_RELOAD", 1L << 40)) return UNINITIALIZED;
	const char *lost = getenv("NVML_LOST");
	if (lost && *lost && d->index == atoi(lost) && d->samples > atoi(strchr(lost, ':') + 1)) return LOST;
	return SUCCESS;
}
#define CHECK(d) do { int s = state(d); if (s) return s; } while (0)
#define WHOLE(d) do { CHECK(d); if ((d)->instance >= 0) return NOT_SUPPORTED; } while (0)

#ifndef DAMAGED
int nvmlInit_v2(void) {
	int fail = (int)setting("NVML_INIT", 0);
	if (fail) return fail;
	for (int i = 0; i < GPUS; i++) {
		gpus[i] = (device){i, -1, 0};
		for (int j = 0; j < INSTANCES; j++) instances[i][j] = (device){i, j, 0};
	}
	xid_pending = setting("NVML_XID", 0) != 0;
	initialized = 1;
	return SUCCESS;
}
#endif

int nvmlShutdown(void) { initialized = 0; return SUCCESS; }
int nvmlSystemGetDriverVersion(char *v, unsigned n) { snprintf(v, n, "590.12"); return SUCCESS; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = (unsigned)setting("NVML_GPUS", GPUS); return SUCCESS; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, device **d) { if (i >= GPUS) return INVALID; *d = &gpus[i]; return SUCCESS; }

int nvmlDeviceGetName(device *d, char *name, unsigned n) {
	snprintf(name, n, d->instance < 0 ? "NVIDIA Test 80GB" : "NVIDIA Test 80GB MIG 3g.40gb");
	return SUCCESS;
}
int nvmlDeviceGetUUID(device *d, char *uuid, unsigned n) {
	if (d->instance < 0) snprintf(uuid, n, "GPU-00000000-0000-0000-0000-%012d", d->index);
	else snprintf(uuid, n, "MIG-00000000-0000-0000-%04d-%012d", d->instance, d->index);
	return SUCCESS;
}
int nvmlDeviceGetMinorNumber(device *d, unsigned *n) { WHOLE(d); *n = (unsigned)(GPUS - 1 - d->index); return SUCCESS; }

typedef struct { char legacy[16]; unsigned domain, bus, device, id, subsystem; char bus_id[32]; } pci;
int nvmlDeviceGetPciInfo_v3(device *d, pci *p) {
	memset(p, 0, sizeof *p);
	snprintf(p->bus_id, sizeof p->bus_id, "00000000:%02X:00.0", 0x10 + d->index);
	return SUCCESS;
}

typedef struct { uint64_t total, free, used; } memory;
int nvmlDeviceGetMemoryInfo(device *d, memory *m) {
	d->samples++;
	if (d->index == 0 && d->instance < 0 && d->samples > setting("NVML_HANG", 1L << 40)) for (;;) pause();
	CHECK(d);
	m->total = 80 * GIB;
	m->used = d->index == 0 ? 61 * GIB : (uint64_t)d->index * GIB;
	m->free = m->total - m->used;
	return SUCCESS;
}

typedef struct { unsigned gpu, memory; } utilization;
int nvmlDeviceGetUtilizationRates(device *d, utilization *u) {
	WHOLE(d);
	if (divided(d)) return NOT_SUPPORTED;
	u->gpu = d->index == 0 ? 87 : (unsigned)(10 * d->index);
	u->memory = 0;
	return SUCCESS;
}
int nvmlDeviceGetPowerUsage(device *d, unsigned *mw) { WHOLE(d); *mw = 512300; return SUCCESS; }
int nvmlDeviceGetTemperature(device *d, int sensor, unsigned *c) { (void)sensor; WHOLE(d); *c = 61; return SUCCESS; }
int nvmlDeviceGetClockInfo(device *d, int which, unsigned *mhz) { WHOLE(d); *mhz = which == 1 ? 1980 : 2619; return SUCCESS; }

typedef struct { unsigned pid; uint64_t used; unsigned gi, ci; } process;

/* named writes the processes of this machine that have a word in their command line. */
static unsigned named(const char *word, uint64_t used, process *into, unsigned room) {
	unsigned n = 0;
	DIR *proc = opendir("/proc");
	for (struct dirent *e; proc && (e = readdir(proc)) && n < room;) {
		char path[300], line[4096];
		if (!isdigit(e->d_name[0])) continue;
		snprintf(path, sizeof path, "/proc/%s/cmdline", e->d_name);
		FILE *f = fopen(path, "r");
		if (!f) continue;
		size_t got = fread(line, 1, sizeof line - 1, f);
		fclose(f);
		for (size_t i = 0; i < got; i++) if (!line[i]) line[i] = ' ';
		line[got] = 0;
		if (strstr(line, word)) into[n++] = (process){(unsigned)atoi(e->d_name), used, ~0u, ~0u};
	}
	if (proc) closedir(proc);
	return n;
}

/* users writes the processes of a list in the environment. */
static unsigned users(const char *name, uint64_t used, process *into, unsigned room) {
	unsigned n = 0;
	const char *list = getenv(name);
	char copy[256], *rest = copy, *pid;
	if (!list) return 0;
	snprintf(copy, sizeof copy, "%s", list);
	while ((pid = strsep(&rest, ","))) if (*pid == '@') n += named(pid + 1, used, into + n, room - n); else if (*pid && n < room) into[n++] = (process){(unsigned)atoi(pid), used, ~0u, ~0u};
	return n;
}
static unsigned on(const device *d, process *p, unsigned room) {
	unsigned n = 0;
	if (d->index == 0) n = users("NVML_OURS", 58 * GIB, p, room), n += users("NVML_OTHERS", 3 * GIB, p + n, room - n);
	if (d->index > 0 && (d->index == 1 || d->instance == 0 || setting("NVML_EVERYWHERE", 0))) n = users("NVML_OURS", GIB, p, room);
	return n;
}
int nvmlDeviceGetComputeRunningProcesses_v3(device *d, unsigned *n, process *into) {
	process p[64];
	CHECK(d);
	unsigned have = on(d, p, 64), room = *n;
	*n = have;
	if (have > room) return TOO_SMALL;
	memcpy(into, p, have * sizeof *p);
	return SUCCESS;
}

int nvmlDeviceGetMigMode(device *d, unsigned *now, unsigned *later) { *now = *later = (unsigned)divided(d); return SUCCESS; }
int nvmlDeviceGetMaxMigDeviceCount(device *d, unsigned *n) { *n = divided(d) ? 7 : 0; return SUCCESS; }
int nvmlDeviceGetMigDeviceHandleByIndex(device *d, unsigned i, device **out) {
	if (i >= INSTANCES) return NOT_FOUND;
	*out = &instances[d->index][i];
	return SUCCESS;
}
int nvmlDeviceGetGpuInstanceId(device *d, unsigned *id) { *id = (unsigned)d->instance + 1; return SUCCESS; }
int nvmlDeviceGetComputeInstanceId(device *d, unsigned *id) { (void)d; *id = 0; return SUCCESS; }

typedef struct { device *device; uint64_t type, data; unsigned gi, ci; } event;
int nvmlEventSetCreate(void **set) { *set = &xid_pending; return SUCCESS; }
int nvmlEventSetFree(void *set) { (void)set; return SUCCESS; }
int nvmlDeviceRegisterEvents(device *d, uint64_t types, void *set) { (void)types; (void)set; WHOLE(d); return SUCCESS; }
int nvmlEventSetWait_v2(void *set, event *e, unsigned ms) {
	(void)set; (void)ms;
	if (!xid_pending) return TIMEOUT;
	xid_pending = 0;
	*e = (event){&gpus[2], 8, (uint64_t)setting("NVML_XID", 0), ~0u, ~0u};
	return SUCCESS;
}

#ifndef OLD
typedef struct { unsigned pid; uint64_t stamp; unsigned sm, memory, encoder, decoder; } sample;
int nvmlDeviceGetProcessUtilization(device *d, sample *into, unsigned *n, uint64_t since) {
	process p[64];
	WHOLE(d);
	int used = d->index == 0 || setting("NVML_EVERYWHERE", 0);
	unsigned ours = used ? users("NVML_OURS", 0, p, 64) : 0, room = *n;
	unsigned all = ours + (d->index == 0 ? users("NVML_OTHERS", 0, p + ours, 64 - ours) : 0);
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	uint64_t now = (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
	if (all == 0 || now <= since) return NOT_FOUND;
	*n = all;
	if (!into || room < all) return TOO_SMALL;
	for (unsigned i = 0; i < all; i++) into[i] = (sample){p[i].pid, now, i < ours ? 85 / ours : 2, 0, 0, 0};
	return SUCCESS;
}
typedef struct { unsigned version; uint64_t total, reserved, free, used; } memory2;
int nvmlDeviceGetMemoryInfo_v2(device *d, memory2 *m) {
	memory v1;
	int ret = nvmlDeviceGetMemoryInfo(d, &v1);
	if (ret) return ret;
	m->total = v1.total, m->free = v1.free - GIB, m->reserved = GIB, m->used = v1.used;
	return SUCCESS;
}
int nvmlDeviceGetEnforcedPowerLimit(device *d, unsigned *mw) { WHOLE(d); *mw = 700000; return SUCCESS; }
int nvmlDeviceGetCurrentClocksEventReasons(device *d, uint64_t *mask) { WHOLE(d); *mask = d->index == 4 ? 4 | 32 : 1; return SUCCESS; }
int nvmlDeviceGetTotalEccErrors(device *d, int kind, int counter, uint64_t *n) { (void)counter; WHOLE(d); *n = kind ? (uint64_t)(d->index == 5) : 7; return SUCCESS; }
int nvmlDeviceGetGraphicsRunningProcesses_v3(device *d, unsigned *n, process *into) { (void)into; CHECK(d); *n = 0; return SUCCESS; }
#endif
