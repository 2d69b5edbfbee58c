// SPDX-License-Identifier: Apache-2.0
// compilers — sets up just-in-time compilers in the program's processes, so that their kernels can be checked.
#ifndef GR_CLI_RUN_COMPILERS_H
#define GR_CLI_RUN_COMPILERS_H

#include "base/status.h"

#include <stdbool.h>

// Sets the variables in our own environment, which the program gets. Where there is no gpurace-ptxas or no temporary
// folder, the variables that would name it are left alone.
gr_status gr_compilers_set_up(bool on_gpu, gr_error *err);

// Removes what was made for this run.
void gr_compilers_clean_up(void);

#endif
