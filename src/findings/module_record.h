// SPDX-License-Identifier: Apache-2.0
// module_record — what a results file says of one loaded module: written by the injection, read by the report.
//
// Texts are stored once and referred to by number (0: none), since thousands of sites share few of them.
#ifndef GR_FINDINGS_MODULE_RECORD_H
#define GR_FINDINGS_MODULE_RECORD_H

#include "base/arena.h"
#include "findings/reader.h"

typedef struct GrFrame {
    const char *function, *file; // NULL when not known
    uint32_t line, col;          // 0 when not known
} GrFrame;

typedef struct GrSiteInfo {
    GrFrame at;
    const GrFrame *inlined; // where `at` was inlined, innermost first
    uint32_t n_inlined;
    const char *kernel; // NULL when the site is in a device function
    const char *type;   // "f32"
    uint32_t ptx_line, size;
    uint8_t access, space, status; // PtxAccess, PtxSpace, GrSiteStatus
    bool before;                   // a store that is performed later: the place is watched before it
    GrFrame near;                  // where at.line is 0: the last place before it in the PTX; line 0: none
    bool is_volatile;
    const char *variable; // the variable that it accesses, as the linker knows it; NULL: not known
    uint32_t argument;    // of the kernel, from 1, that it accesses through; 0: not known
} GrSiteInfo;

// A function that accesses memory.
typedef struct GrFunctionInfo {
    const char *name;
    uint64_t id; // of its name and code (passes/sample.h)
    bool is_kernel;
    uint32_t first_site, n_sites; // of the module's, one after the other
    const uint32_t *kernels;      // of a device function: of the module's kernels those that may reach it
    uint32_t n_kernels;
} GrFunctionInfo;

// Whose area it is, and what its bytes are by that engine's own count.
typedef struct GrAreaTag {
    const char *engine; // its name; NULL: there is no area
    uint32_t format, version;
} GrAreaTag;

typedef struct GrModuleInfo {
    uint64_t process, number, hash;
    const char *name, *unchecked; // why it is not checked, NULL when it is
    const char **kernels;
    uint32_t n_kernels, n_sites;
    GrSiteInfo *sites; // [0] unused, [1] to [n_sites]
    GrFunctionInfo *functions;
    uint32_t n_functions;
    GrAreaTag area_tag;
    uint64_t area, area_bytes; // where its area is in the file; area_bytes 0: nowhere
} GrModuleInfo;

// Appends the record's payload.
void gr_module_write(const GrModuleInfo *m, StrBuf *out);

// Everything it hands out lives in `arena`. `paths` (base/path_map.h) says where its files lie. GR_ERR_FORMAT when the
// payload makes no sense.
gr_status gr_module_read(const GrRecord *r, const char *paths, Arena *arena, GrModuleInfo *out,
                         gr_error *err);

#endif
