# SPDX-License-Identifier: Apache-2.0
# What the project hands out: the command and its shared libraries, wherever under src/ they are made.
#
#   built                          installed
#   build/gpurace                  BINDIR/gpurace
#   build/gpurace-ptxas            BINDIR/gpurace-ptxas                       (a link to it)
#   build/lib/libgpurace.so        LIBDIR/gpurace/libgpurace.so
#   build/cpu-device/libcuda.so.1  LIBDIR/gpurace/cpu-device/libcuda.so.1     (and libcudart.so.N)
#   README.md, LICENSE, docs/      DOCDIR
#   build/share                    MANDIR/man1, and the folders of bash, zsh and fish below DATADIR
#   integrations/                  DATADIR/gpurace, DATADIR/cmake/gpurace
#
# The folders are those of GNUInstallDirs (CMAKE_INSTALL_LIBDIR and so on), below CMAKE_INSTALL_PREFIX, or below the --prefix of
# cmake --install. The command knows the way from BINDIR to LIBDIR (src/cli/CMakeLists.txt), so both may move together.
#
# A shared library says where it goes by its LIBRARY_OUTPUT_DIRECTORY. Each is installed, and the test `symbols`
# checks what it exports.

# All shared libraries made in `dir` and below.
function(gr_shared_libraries dir out)
  get_property(targets DIRECTORY ${dir} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(subdirs DIRECTORY ${dir} PROPERTY SUBDIRECTORIES)
  set(found)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "SHARED_LIBRARY" OR type STREQUAL "MODULE_LIBRARY")
      list(APPEND found ${target})
    endif()
  endforeach()
  foreach(subdir IN LISTS subdirs)
    gr_shared_libraries(${subdir} below)
    list(APPEND found ${below})
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

gr_shared_libraries(${CMAKE_SOURCE_DIR}/src GR_PRODUCT_LIBRARIES)
foreach(target IN LISTS GR_PRODUCT_LIBRARIES)
  get_target_property(dir ${target} LIBRARY_OUTPUT_DIRECTORY)
  if(NOT dir)
    message(FATAL_ERROR "${target}: a shared library needs a LIBRARY_OUTPUT_DIRECTORY, see cmake/Products.cmake")
  endif()
  file(RELATIVE_PATH dir ${CMAKE_BINARY_DIR} ${dir})
  if(dir STREQUAL "lib") # build/lib stands for PREFIX/lib/gpurace
    set(dir .)
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/gpurace/${dir})
endforeach()
install(TARGETS gpurace RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(PROGRAMS ${CMAKE_BINARY_DIR}/gpurace-ptxas DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES include/gpurace/gpurace.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gpurace)
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES integrations/gpurace-config.cmake DESTINATION ${CMAKE_INSTALL_DATADIR}/cmake/gpurace)
install(FILES integrations/github-matcher.json DESTINATION ${CMAKE_INSTALL_DATADIR}/gpurace)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
