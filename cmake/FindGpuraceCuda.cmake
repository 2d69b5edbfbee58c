# SPDX-License-Identifier: Apache-2.0
# Finds the CUDA toolkit's headers, which the build needs, and its compilers, which only tests and examples need.
#
#   GPURACE_CUDA_INCLUDE  folder of cuda.h and cuda_runtime_api.h; an error if there is none
#   GPURACE_NVCC          nvcc, empty if there is none
#   GPURACE_PTXAS         ptxas, empty if there is none
#   GPURACE_CUDA12        folder of CUDA 12's headers and runtime library (include, lib), empty if there is none
#
# Looked for in: $CUDA_HOME, nvcc on PATH, /usr/local/cuda, build/cuda (where tools/setup.sh unpacks NVIDIA's
# packages). The headers and the compilers come from the same toolkit whenever it has both.
set(roots $ENV{CUDA_HOME})
find_program(_gr_path_nvcc nvcc NO_CMAKE_PATH NO_CMAKE_SYSTEM_PATH NO_CACHE)
if(_gr_path_nvcc)
  get_filename_component(_gr_path_nvcc ${_gr_path_nvcc} REALPATH)
  get_filename_component(_gr_path_nvcc ${_gr_path_nvcc} DIRECTORY)
  list(APPEND roots ${_gr_path_nvcc}/..)
endif()
list(APPEND roots /usr/local/cuda ${CMAKE_SOURCE_DIR}/build/cuda ${CMAKE_BINARY_DIR}/cuda)

set(GPURACE_NVCC "")
set(GPURACE_PTXAS "")
set(GPURACE_CUDA_INCLUDE "")
foreach(root IN LISTS roots)
  get_filename_component(root ${root} ABSOLUTE)
  # CUDA 12 and older (Debian's own package is 11) will not do; tools/setup.sh has the same rule.
  if(NOT EXISTS ${root}/include/cuda.h OR NOT EXISTS ${root}/include/cuda_runtime_api.h)
    continue()
  endif()
  file(STRINGS ${root}/include/cuda.h version REGEX "^#define CUDA_VERSION (1[3-9]|[2-9][0-9])[0-9][0-9][0-9]")
  if(NOT version)
    continue()
  endif()
  if(NOT GPURACE_NVCC AND EXISTS ${root}/bin/nvcc AND EXISTS ${root}/bin/ptxas)
    set(GPURACE_NVCC ${root}/bin/nvcc)
    set(GPURACE_PTXAS ${root}/bin/ptxas)
    set(GPURACE_CUDA_INCLUDE ${root}/include)
  elseif(NOT GPURACE_CUDA_INCLUDE)
    set(GPURACE_CUDA_INCLUDE ${root}/include)
  endif()
endforeach()

if(NOT GPURACE_CUDA_INCLUDE)
  message(FATAL_ERROR "The CUDA headers (cuda.h, cuda_runtime_api.h) were not found. Run tools/setup.sh, "
                      "or set CUDA_HOME to a CUDA 13 toolkit.")
endif()
message(STATUS "CUDA headers: ${GPURACE_CUDA_INCLUDE}")
message(STATUS "nvcc: ${GPURACE_NVCC}")

set(GPURACE_CUDA12 "")
foreach(root ${CMAKE_SOURCE_DIR}/build/cuda12 ${CMAKE_BINARY_DIR}/cuda12)
  if(EXISTS ${root}/include/cuda_runtime_api.h AND EXISTS ${root}/lib/libcudart.so)
    set(GPURACE_CUDA12 ${root})
  endif()
endforeach()
