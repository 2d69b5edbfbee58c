// SPDX-License-Identifier: Apache-2.0
// stubs — the entry points of the runtime that are absent, so that every program loads.
//
// A program that calls one gets cudaErrorNotSupported, and the verdict names the function: gr_rt_report_absent(). It
// may be the program's first call, so it loads the driver like any other, by which the tool begins to listen. The
// prototypes of the headers are kept out of here: no argument is looked at, and the ABIs we build for let the caller
// clean up.
#include <stddef.h>

typedef int CudaError; // an enum in driver_types.h
enum { NOT_SUPPORTED = 801 };

void gr_rt_report_absent(const char *name);
CudaError gr_rt_load(void);
CudaError gr_rt_leave(CudaError e);

#define STUB(name)                                                                                           \
    CudaError name(void);                                                                                    \
    CudaError name(void) {                                                                                   \
        CudaError e = gr_rt_load();                                                                          \
        gr_rt_report_absent(#name);                                                                          \
        return gr_rt_leave(e ? e : NOT_SUPPORTED);                                                           \
    }

#define STUB_NONE(name) STUB(name)
#define STUB_PTDS(name) STUB(name) STUB(name##_ptds)
#define STUB_PTSZ(name) STUB(name) STUB(name##_ptsz)

#define WHEN_IMPLEMENTED(name, variant)
#define WHEN_ABSENT(name, variant) STUB_##variant(name)

#define GR_SECTION(title)
#define GR_API(name, status, variant) WHEN_##status(name, variant)
#include "driver/cudart/api.def"
#if GR_RT_MAJOR == 12
#include "driver/cudart/api12.def"
#endif
