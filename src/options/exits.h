// SPDX-License-Identifier: Apache-2.0
// exits — the command's exit statuses, beside a program's own, 128 and a signal's number, and --error-exitcode's.
#ifndef GR_OPTIONS_EXITS_H
#define GR_OPTIONS_EXITS_H

enum {
    EXIT_OURS = 1,          // gpurace failed
    EXIT_USAGE = 2,         // the command line makes no sense
    EXIT_DOUBTS = 3,        // `suppressions`: rules that may not do what is meant
    EXIT_RACES = 66,        // the default of --error-exitcode
    EXIT_INCONCLUSIVE = 67, // by --strict
    EXIT_MISSED = 68,       // `selftest`: the planted race was not found
    EXIT_LATER = 75,        // `campaign`: tasks of Slurm are at work
    EXIT_TIMEOUT = 124,
    EXIT_NOT_RUN = 126,
    EXIT_NOT_FOUND = 127
};

#endif
