# SPDX-License-Identifier: Apache-2.0
# The packages: `cmake --build build --target package` writes a .deb and a .tar.gz of what is installed into build/packages.
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGE_NAME gpurace)
set(CPACK_PACKAGE_VENDOR "gpurace developers")
set(CPACK_PACKAGE_CONTACT "gpurace developers <gpurace@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "gpurace runs a CUDA program and reports its data races: on a CUDA device that runs on the CPU, so that no GPU is needed, or on a real
GPU, where the program's PTX is rewritten when it is loaded. The program is not changed.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_RESOURCE_FILE_README ${CMAKE_SOURCE_DIR}/README.md)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# Debian wants the license under this name, too.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/DebianCopyright.cmake)
find_program(GPURACE_SHLIBDEPS dpkg-shlibdeps DOC "tells which Debian packages a program's libraries come from")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "clang-19, g++") # the host compiler of `gpurace check`
if(GPURACE_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
else() # Debian 12's
  set(llvm)
  if(GR_LLVM_FOUND)
    set(llvm ", libllvm19 (>= 1:19.1)")
  endif()
  set(z3)
  if(GR_Z3_FOUND)
    set(z3 ", libz3-4 (>= 4.8.12)")
  endif()
  set(sqlite)
  if(GR_SQLITE_FOUND)
    set(sqlite ", libsqlite3-0 (>= 3.40)")
  endif()
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.36), libelf1 (>= 0.144), libjansson4 (>= 2.14), liblz4-1 (>= 0.0~r130), libzstd1 (>= 1.5.2)${sqlite}${z3}${llvm}")
endif()
include(CPack)
