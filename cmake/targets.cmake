# One static library per folder, one warning set, one precompiled header of LibTorch.
add_library(ablate_warnings INTERFACE)
# Off: designated initialisers leave defaults to the declaration, and GCC 12 reports std::string's own
# concatenation as overlapping (GCC bug 105651).
target_compile_options(ablate_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(ablate_warnings INTERFACE -Wno-restrict)
endif()
if(ABLATE_SANITIZE)
  # GCC 12 takes LibTorch's optional default arguments for uninitialised once sanitizers are on.
  target_compile_options(ablate_warnings INTERFACE -Wno-maybe-uninitialized)
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize=vptr)
  add_link_options(-fsanitize=address,undefined -fno-sanitize=vptr)
endif()

file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/torch_headers.cpp CONTENT "")
add_library(torch_headers STATIC ${CMAKE_BINARY_DIR}/torch_headers.cpp)
target_link_libraries(torch_headers PUBLIC ablate::torch PRIVATE ablate_warnings)
target_precompile_headers(torch_headers PRIVATE ${CMAKE_SOURCE_DIR}/models/libtorch.h)

# Files that include none of LibTorch's API, to which the precompiled header would cost ten seconds each.
set(ABLATE_WITHOUT_TORCH
  training/caching_allocator.cpp
  training/checkpoint/durable_file.cpp
  training/checkpoint/finite_json.cpp
  training/checkpoint/folder_lock.cpp
  training/checkpoint/manifest.cpp
  training/checkpoint/run_log.cpp
  training/interrupt.cpp
  training/metrics/bleu.cpp
  training/metrics/chrf.cpp
  training/metrics/tokenizer_13a.cpp
  training/metrics/unicode_text.cpp
  training/progress.cpp
  training/schedule.cpp
  experiments/commands/compare.cpp
  training/tensorboard/event.cpp
  training/tensorboard/event_file.cpp
  experiments/command_line/command_line.cpp
  experiments/command_line/completion.cpp
  experiments/commands/completion.cpp
  experiments/commands/config.cpp
  experiments/commands/data.cpp
  experiments/commands/doctor.cpp
  experiments/commands/help.cpp
  experiments/commands/init.cpp
  experiments/commands/lines.cpp
  experiments/commands/metrics.cpp
  experiments/commands/run.cpp
  experiments/commands/report.cpp
  experiments/commands/section_flags.cpp
  experiments/commands/tokenizer.cpp
  experiments/dry_run.cpp
  experiments/frozen_study.cpp
  experiments/live_table.cpp
  experiments/plot/attention_page.cpp
  experiments/process_pool.cpp
  experiments/report_source.cpp
  experiments/result.cpp
  experiments/run_failure.cpp
  experiments/shipped_studies.cpp
  experiments/run_study.cpp
  experiments/run_comparison.cpp
  experiments/score_line.cpp
  experiments/study_tables.cpp
  experiments/tracking.cpp
  experiments/rung_score.cpp
  experiments/tuning.cpp
  experiments/main.cpp)
list(TRANSFORM ABLATE_WITHOUT_TORCH PREPEND ${CMAKE_SOURCE_DIR}/)
file(GLOB evidence CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/experiments/evidence/*.cpp ${CMAKE_SOURCE_DIR}/experiments/table/*.cpp)
list(APPEND ABLATE_WITHOUT_TORCH ${evidence})
set_source_files_properties(${ABLATE_WITHOUT_TORCH} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)

# Option structs are headers without torch that every folder's configuration reads.
add_library(ablate_options INTERFACE)
add_library(ablate::options ALIAS ablate_options)
target_include_directories(ablate_options INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<INSTALL_INTERFACE:include/ablate>)

# ablate_library(folder [TORCH] [USES targets...]): target ablate::<last part of folder> from its sources
# and those of its sub-folders that are no library of their own.
function(ablate_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "USES")
  get_filename_component(name ${folder} NAME)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
  list(REMOVE_ITEM sources ${CMAKE_SOURCE_DIR}/experiments/main.cpp)
  if(folder STREQUAL "experiments")
    list(FILTER sources EXCLUDE REGEX "/experiments/(config/|records/|report/|statistics/|evidence/figure)")
  endif()
  if(NOT ABLATE_KERNELS)
    list(FILTER sources EXCLUDE REGEX "/models/(kernel|ops/cpu)/")
  endif()
  add_library(ablate_${name} STATIC ${sources})
  file(GLOB kernels CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/kernel/*.cpp)
  set_source_files_properties(${kernels} PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS "-O3;-fopenmp-simd;-fno-trapping-math;-fno-math-errno")
  add_library(ablate::${name} ALIAS ablate_${name})
  target_link_libraries(ablate_${name} PUBLIC ablate::options ${arg_USES} PRIVATE ablate_warnings)
  if(arg_TORCH)
    target_link_libraries(ablate_${name} PUBLIC ablate::torch)
    target_precompile_headers(ablate_${name} REUSE_FROM torch_headers)
  endif()
endfunction()
