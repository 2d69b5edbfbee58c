// SPDX-License-Identifier: Apache-2.0
// plant — `gpurace selftest -- PROGRAM`: a known race is planted in front of the program's first launch, in its context
// and stream, by a module of gpurace's own. The report then says whether the engine found it.
#ifndef GR_INJECT_PLANT_H
#define GR_INJECT_PLANT_H

#include <cuda.h>

// The program is about to launch something in the stream. Plants the race if it is wanted (GR_PLANT_ENV) and not there
// yet. While a capture is open it waits for a later launch.
void gr_plant_before(CUstream stream);

#endif
