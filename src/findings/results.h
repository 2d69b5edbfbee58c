// SPDX-License-Identifier: Apache-2.0
// results — the file in which a run leaves what it found, whatever becomes of the program.
//
//     +--------+--------+--------+------------------------+--------+
//     | header | record | AREA   | raw bytes, page aligned | record | …        16-byte grid
//     +--------+--------+--------+------------------------+--------+
//       end ──────────────────────────────────────────────────────────▶ next free byte
//
// Several processes and threads append at once: each reserves its bytes with an atomic addition to `end`, in the header
// page that all of them map, and then writes them. No process or thread waits for another. A record is one pwrite,
// complete once that returns, and carries a hash: what a killed process left half done is recognized and counted by the
// reader. Areas are mapped by the process that reserved them; device code writes race slots there, so they need no end
// of any kind. The path is opened for each append, because programs close descriptors that they do not know. Where it
// cannot be opened (setuid, chroot) a descriptor does that the launcher opened, if the process still has it. What
// cannot be written is counted in the header (`dropped`), which is mapped then, and the process is named there
// (hidden.h).
#ifndef GR_FINDINGS_RESULTS_H
#define GR_FINDINGS_RESULTS_H

#include "base/status.h"
#include "base/str.h"
#include "findings/hidden.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Where the launcher puts the file's path for libgpurace.so.
#define GR_RESULTS_ENV "GPURACE_RESULTS"
// The number of a descriptor of that file, which every program of the run inherits.
#define GR_RESULTS_FD_ENV "GPURACE_RESULTS_FD"
// What the launcher puts before LD_PRELOAD: libgpurace.so first, and on the CPU device the driver.
#define GR_PRELOAD_ENV "GPURACE_PRELOAD"

// A reason of the report's: no process called the CUDA driver.
#define GR_REASON_UNUSED "the program did not use CUDA"

// A reason of an engine's: its own filter matched nothing, so that nothing was checked.
#define GR_REASON_NO_VARIABLE                                                                                \
    "the option --variable matches no variable of the program's modules: nothing was checked"

// The remark on graphs whose kernels are not known and not counted: a count of 0 does not mean that none ran.
#define GR_REMARK_GRAPH                                                                                      \
    "a CUDA graph was launched whose nodes are not known: its kernels are checked, but not all counted as "  \
    "launches"

typedef enum GrRecordKind {
#define RECORD(id, number, name) GR_RECORD_##id = (number),
#include "findings/records.def"
#undef RECORD
} GrRecordKind;

enum {
    GR_RESULTS_VERSION = 5,
    GR_RESULTS_HEADER = 4096,
    GR_RESULTS_GRID = 16,
    GR_RESULTS_AREA_ALIGN = 65536, // the largest page size of the machines we run on
    GR_RECORD_MAGIC = 0x43455247,  // "GREC"
};
#define GR_RESULTS_MAGIC "GPURACE\x01"

typedef struct GrResultsHeader {
    char magic[8];
    uint32_t version, header_size;
    uint64_t end;             // atomic
    uint64_t dropped;         // atomic: records and areas that could not be written
    uint64_t processes;       // atomic: numbers handed out to processes, from 1
    uint64_t launches;        // atomic: so far, for the command that waits
    uint64_t races;           // atomic: so far, as far as they are known before the end
    uint64_t acquired;        // atomic: calls of gpurace_acquire
    uint32_t stopped;         // atomic: 1 while launches are not to be checked, in all processes
    uint32_t asked, answered; // atomic: reports so far that were asked for, and written
    uint64_t hidden_more;     // atomic: notes that found no free entry
    uint32_t lost_to;         // atomic: the errno that the first of those dropped was lost to; 0: not known
    GrHidden hidden[GR_HIDDEN_ENTRIES];
} GrResultsHeader;
_Static_assert(sizeof(GrResultsHeader) <= GR_RESULTS_HEADER, "the header is one page");

typedef struct GrRecordHeader {
    uint32_t magic, kind;
    uint64_t size; // of the payload that follows, without the padding to the grid
    uint64_t hash; // of kind, size, process and payload
    uint64_t process;
} GrRecordHeader;

uint64_t gr_record_hash(const GrRecordHeader *h, const void *payload);

// The counters of one kernel, in an area.
typedef struct GrKernelCounts {
    uint64_t launches, failed, first_launch;
    // Launches that ran unchecked, because of --only-launches, and because checking was stopped.
    uint64_t left_out, stopped;
    uint32_t grid[3], block[3]; // of the first launch
    int32_t last_error;         // CUresult of the last failed launch
    uint32_t reserved;
} GrKernelCounts;

// A launch in a log (GR_RECORD_LAUNCH_LOG).
typedef struct GrLogged {
    uint32_t kernel, stack; // the kernel's index + 1, 0: unused; the number of the call's stack, 0: not known
} GrLogged;

typedef struct GrResults {
    GrResultsHeader *header;
    char *path;
    uint64_t process; // this process's number; 0: it has none
    // Inherited from the launcher, or -1. The program may have closed it, and opened something else by the number.
    int fd;
    uint64_t device, inode;
    const char *program; // of this process, for notes; NULL: not known
} GrResults;

// Creates the file, empty. The launcher does it, before the program starts.
gr_status gr_results_create(const char *path, gr_error *err);

// Maps the header of an existing file: to watch its counts, and so that a process finds it whatever it gives up later.
gr_status gr_results_look(const char *path, GrResults *out, gr_error *err);
// Maps it by descriptor `fd` where the path cannot be opened. `fd` is kept if it is the file's; it stays the caller's.
gr_status gr_results_look_by(const char *path, int fd, GrResults *out, gr_error *err);
// Takes a process number: for a new process, which has the mapping of its parent.
void gr_results_join(GrResults *r);
void gr_results_detach(GrResults *r);

// Appends a record; what fails is counted as dropped. `payload` is taken as built (its oom flag drops it).
void gr_results_append(GrResults *r, GrRecordKind kind, const StrBuf *payload);

// Reserves and maps `size` zeroed bytes, aligned to a page; *offset is their place in the file. NULL (and one more
// dropped) when that is not possible. Unmap with munmap if ever.
void *gr_results_area(GrResults *r, uint64_t size, uint64_t *offset);

void gr_results_count_dropped(GrResults *r);
void gr_results_count_launch(GrResults *r);
void gr_results_count_race(GrResults *r);

// ---- Payloads: little endian numbers and length-prefixed texts -------------------------------------------------

void gr_put_u32(StrBuf *b, uint32_t v);
void gr_put_u64(StrBuf *b, uint64_t v);
void gr_put_str(StrBuf *b, const char *s); // NULL is stored as ""

#endif
