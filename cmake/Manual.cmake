# SPDX-License-Identifier: Apache-2.0
# cmake -DGPURACE=COMMAND -DOUT=FOLDER -P Manual.cmake: the pages of the manual and the completions, as the command makes them.
file(REMOVE_RECURSE ${OUT}/man1)
file(MAKE_DIRECTORY ${OUT}/man1)
execute_process(COMMAND ${GPURACE} manual --all ${OUT}/man1 COMMAND_ERROR_IS_FATAL ANY)
foreach(shell bash zsh fish)
  execute_process(COMMAND ${GPURACE} completion ${shell} OUTPUT_FILE ${OUT}/gpurace.${shell} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
