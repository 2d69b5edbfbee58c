// SPDX-License-Identifier: Apache-2.0
// commands — the functions behind the rows of commands.def.
#ifndef GR_CLI_COMMANDS_H
#define GR_CLI_COMMANDS_H

#define COMMAND(name, function, summary, caps) int function(int argc, char **argv);
#include "cli/commands.def"
#undef COMMAND

#endif
