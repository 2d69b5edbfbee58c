// SPDX-License-Identifier: Apache-2.0
// gpurace campaign, in a build without SQLite: says what is missing.
#include "cli/commands.h"

#include <stdio.h>

int gr_cmd_campaign(int argc, char **argv) {
    (void)argc;
    (void)argv;
    fputs("gpurace: this build of gpurace has no campaigns: SQLite, which keeps their results, was not "
          "there. Install it "
          "(Debian package libsqlite3-dev), and build gpurace again\n",
          stderr);
    return EXIT_OURS;
}
