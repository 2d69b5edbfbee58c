#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fails when a C file of ours is not formatted as .clang-format says. Versions of clang-format differ in their
# output: 14 decides, and without it the check is skipped (77).
set -eu
cd "$(dirname "$0")/.."
tool=$(command -v clang-format-14 || command -v clang-format) || exit 77
"$tool" --version | grep -q 'version 14\.' || { echo "skipped: $tool is not version 14"; exit 77; }
# Untracked files count too, so that the check says the same before and after a commit.
if ! files=$(git ls-files --cached --others --exclude-standard -- '*.[ch]' 2>/dev/null); then
    files=$(find src include tests bench examples -name '*.[ch]' 2>/dev/null) # not a git checkout
fi
bad=0 total=0
for f in $files; do
    [ -f "$f" ] || continue # deleted, not committed yet
    total=$((total + 1))
    "$tool" "$f" | cmp -s - "$f" || { echo "$f: not formatted; run: clang-format-14 -i $f"; bad=$((bad + 1)); }
done
echo "$((total - bad)) of $total files are formatted"
[ "$total" -gt 0 ] && [ "$bad" = 0 ]
