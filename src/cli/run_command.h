// SPDX-License-Identifier: Apache-2.0
// run_command — `gpurace run` for the command that is called so and for `gpurace selftest`.
#ifndef GR_CLI_RUN_COMMAND_H
#define GR_CLI_RUN_COMMAND_H

#include <stdbool.h>

// `selftest`: a known race is planted beside the program's first launch, and the report says whether it was found.
int gr_run_command(int argc, char **argv, bool selftest);

#endif
