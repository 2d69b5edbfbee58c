# SPDX-License-Identifier: Apache-2.0
# cmake -DIN=file -DOUT=file.c -DNAME=symbol -P Embed.cmake: the file's bytes as `const char NAME[]`, NUL terminated.
file(READ ${IN} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
get_filename_component(name ${IN} NAME)
file(WRITE ${OUT} "// Generated from ${name}.\nextern const char ${NAME}[];\nconst char ${NAME}[] = {\n${bytes}0};\n")
