# SPDX-License-Identifier: Apache-2.0
# gr_add_soak(name FIRST f COUNT n PARTS p COMMAND words... [PROPERTIES name value...]): a test of the soak over a range of numbers or seeds, as tests NAME.1 to
# NAME.p, each over its share of the range. COMMAND has @FIRST@ and either @COUNT@ or @LAST@ where the share's own go; without both,
# --first and --count are put behind it. One share should take no longer than an hour and a half of two cores (tests/README.md).
function(gr_add_soak name)
  cmake_parse_arguments(S "" "FIRST;COUNT;PARTS" "COMMAND;PROPERTIES" ${ARGN})
  if(NOT "${S_COMMAND}" MATCHES "@FIRST@")
    list(APPEND S_COMMAND --first @FIRST@ --count @COUNT@)
  endif()
  math(EXPR COUNT "${S_COUNT} / ${S_PARTS}")
  foreach(part RANGE 1 ${S_PARTS})
    math(EXPR FIRST "${S_FIRST} + (${part} - 1) * ${COUNT}")
    math(EXPR LAST "${FIRST} + ${COUNT} - 1")
    string(CONFIGURE "${S_COMMAND}" command @ONLY)
    add_test(NAME ${name}.${part} COMMAND ${command})
    set_tests_properties(${name}.${part} PROPERTIES LABELS soak TIMEOUT 14400 ${S_PROPERTIES})
  endforeach()
endfunction()
