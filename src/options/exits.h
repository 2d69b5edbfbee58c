// SPDX-License-Identifier: Apache-2.0
// exits — what the command exits with. Beside these: the status of a program that ran, 128 and a signal's number, and what --error-exitcode says.
#ifndef GR_OPTIONS_EXITS_H
#define GR_OPTIONS_EXITS_H

enum {
    EXIT_OURS = 1,          // gpurace failed
    EXIT_USAGE = 2,         // the command line makes no sense
    EXIT_DOUBTS = 3,        // `suppressions`: rules that may not do what is meant
    EXIT_RACES = 66,        // the default of --error-exitcode
    EXIT_INCONCLUSIVE = 67, // by --strict
    EXIT_LATER = 75,        // `campaign`: tasks of Slurm are at work
    EXIT_TIMEOUT = 124,
    EXIT_NOT_RUN = 126,
    EXIT_NOT_FOUND = 127
};

#endif
