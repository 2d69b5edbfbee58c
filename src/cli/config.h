// SPDX-License-Identifier: Apache-2.0
// config — gpurace.toml: the options of a project.
//
// The file is looked for in the working folder, then in those above it up to the repository's root, which has `.git`;
// outside of a repository in the working folder alone. Keys are the names of options; those outside of tables hold for
// each command that has the option, those of a table [run], [check], … for that command. Files that it names lie below
// its own folder.
#ifndef GR_CLI_CONFIG_H
#define GR_CLI_CONFIG_H

#include "options/options.h"

// Sets options by gpurace.toml, if there is one and neither argv nor GPURACE_OPTIONS has --no-config; then sets
// o->no_config, so that what repeats the run does not read the file again. To be called before all else that sets
// options. Errors have the place in the file.
gr_status gr_config_read(GrOptions *o, unsigned command, int argc, char **argv, gr_error *err);

#endif
