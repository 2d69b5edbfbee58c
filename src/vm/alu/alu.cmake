# SPDX-License-Identifier: Apache-2.0
# gr_vm_alu: the arithmetic of the CPU device. The kernels are compiled once per instruction set; alu.c chooses
# among them at run time.
set(ALU_KERNELS alu_int.c alu_bit.c alu_cmp.c alu_float.c alu_cvt.c alu_round.c alu_16.c alu_16v.c alu_approx.c alu_video.c)
list(TRANSFORM ALU_KERNELS PREPEND alu/)
set(ALU_OBJECTS)

function(gr_alu_isa name)
  add_library(gr_vm_alu_${name} OBJECT ${ALU_KERNELS})
  target_link_libraries(gr_vm_alu_${name} PRIVATE gr_options)
  target_compile_definitions(gr_vm_alu_${name} PRIVATE ALU_ISA=${name})
  # No contraction: PTX says where a multiplication and an addition are fused. Exceptions and errno are not used.
  target_compile_options(gr_vm_alu_${name} PRIVATE ${ARGN} $<$<CONFIG:Release>:-O3> -ffp-contract=off
                         -fno-trapping-math -fno-math-errno -Wno-psabi)
endfunction()

# clang's conversion of u64 to f64 makes -0 of 0 where rounding is downwards, unless it is told that rounding varies.
set_source_files_properties(alu/alu_cvt.c PROPERTIES COMPILE_OPTIONS $<$<C_COMPILER_ID:Clang>:-frounding-math>)

# They are the same source: builds that look for mistakes in it, rather than to be fast, do without those for newer processors.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND GPURACE_X86_LEVELS)
  set(x86_levels ON)
endif()

gr_alu_isa(base)
list(APPEND ALU_OBJECTS $<TARGET_OBJECTS:gr_vm_alu_base>)
if(x86_levels)
  gr_alu_isa(v3 -march=x86-64-v3)
  gr_alu_isa(v4 -march=x86-64-v4)
  list(APPEND ALU_OBJECTS $<TARGET_OBJECTS:gr_vm_alu_v3> $<TARGET_OBJECTS:gr_vm_alu_v4>)
endif()

gr_add_library(gr_vm_alu alu/alu.c alu/alu_select.c alu/alu_cvt_select.c ${ALU_OBJECTS})
if(x86_levels)
  target_compile_definitions(gr_vm_alu PRIVATE ALU_X86_LEVELS)
endif()
target_link_libraries(gr_vm_alu PUBLIC gr_ptx m)
