# SPDX-License-Identifier: Apache-2.0
# gr_add_unit_test(name SOURCES ... LIBS ...): a cmocka program, one CTest test labelled "unit". The target unit-tests builds all of them,
# with what they need and no more.
add_custom_target(unit-tests)
function(gr_add_unit_test name)
  cmake_parse_arguments(T "" "" "SOURCES;LIBS;ARGS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  target_link_libraries(${name} PRIVATE ${T_LIBS} gr_options PkgConfig::GR_CMOCKA)
  add_dependencies(unit-tests ${name})
  add_test(NAME ${name} COMMAND ${name} ${T_ARGS})
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 300)
endfunction()
