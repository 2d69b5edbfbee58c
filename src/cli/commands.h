// SPDX-License-Identifier: Apache-2.0
// commands — the rows of commands.def, and the functions behind them.
#ifndef GR_CLI_COMMANDS_H
#define GR_CLI_COMMANDS_H

#include "options/exits.h"
#include "options/options.h"

#include <stddef.h>

#define COMMAND(name, function, summary, caps, options, operands) int function(int argc, char **argv);
#include "cli/commands.def"
#undef COMMAND

typedef struct GrCommand {
    const char *name, *summary;
    unsigned caps, options;
    const char *operands;
} GrCommand;

extern const GrCommand gr_commands[];

// The commands of this program, from 0; NULL: there are no more.
const GrCommand *gr_command(size_t k);
const GrCommand *gr_command_find(const char *name);
// Whether a command takes the options of a row. A campaign takes those of its runs, unless it has one of that name.
bool gr_command_takes(const GrCommand *c, const GrOptRow *row);

// Prints what --help says (help.def). Returns the command's exit status: 0 on standard output, else EXIT_USAGE.
int gr_print_help(const char *name, FILE *out);

// Prints the error on standard error and gives the status, with which the command then ends.
int gr_complain(int status, const gr_error *err);

#endif
