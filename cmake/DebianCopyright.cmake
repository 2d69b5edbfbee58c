# SPDX-License-Identifier: Apache-2.0
# CPack runs this before it makes a package of what was installed into CPACK_TEMPORARY_DIRECTORY.
if(CPACK_GENERATOR STREQUAL "DEB")
  file(GLOB_RECURSE licenses ${CPACK_TEMPORARY_DIRECTORY}/*/LICENSE)
  foreach(license IN LISTS licenses)
    cmake_path(REPLACE_FILENAME license copyright OUTPUT_VARIABLE copyright)
    file(COPY_FILE ${license} ${copyright})
  endforeach()
endif()
