# One static library per folder, one warning set, one precompiled header of LibTorch.
add_library(ablate_warnings INTERFACE)
# A switch that forgets an enumerator is an error in every build, unlike warnings, which depend on the compiler.
# Off: designated initialisers leave defaults to the declaration, and GCC 12 reports std::string's own
# concatenation as overlapping (GCC bug 105651).
target_compile_options(ablate_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion $<IF:$<BOOL:${ABLATE_WERROR}>,-Werror,-Werror=switch> -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(ablate_warnings INTERFACE -Wno-restrict)
endif()
if(ABLATE_SANITIZE)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 takes LibTorch's optional default arguments for uninitialised once sanitizers are on, and warns of the fences
    # in its headers, which ThreadSanitizer does not see.
    target_compile_options(ablate_warnings INTERFACE -Wno-maybe-uninitialized -Wno-tsan)
  endif()
  add_compile_options(-fsanitize=${ABLATE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize=vptr)
  add_link_options(-fsanitize=${ABLATE_SANITIZE} -fno-sanitize=vptr)
endif()
if(ABLATE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link -fno-sanitize-recover=all)
endif()

file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/torch_headers.cpp CONTENT "")
add_library(torch_headers STATIC ${CMAKE_BINARY_DIR}/torch_headers.cpp)
target_link_libraries(torch_headers PUBLIC ablate::torch PRIVATE ablate_warnings)
target_precompile_headers(torch_headers PRIVATE ${CMAKE_SOURCE_DIR}/models/libtorch.h)

# Compiles in two thirds of the time. From version 13 on, GCC warns of a precompiled header of -O2 unless what that says of
# the processor is said, too.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-munroll-only-small-loops ABLATE_UNROLLS_SMALL_LOOPS)
set(ablate_quickly -O1)
if(ABLATE_UNROLLS_SMALL_LOOPS)
  list(APPEND ablate_quickly -munroll-only-small-loops -mvzeroupper)
endif()

# What describes option structs, which are headers without torch that every folder's configuration reads.
file(GLOB options_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/options/*.cpp)
add_library(ablate_options STATIC ${options_sources})
add_library(ablate::options ALIAS ablate_options)
target_link_libraries(ablate_options PRIVATE ablate_warnings)
target_include_directories(ablate_options PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<INSTALL_INTERFACE:include/ablate>)

# ablate_library(folder [TORCH] [TALKS] [USES targets...]): target ablate::<folder> from its sources and those of its sub-folders
# that are no library of their own, which come first. "experiments/" is left out of the name, and a "/" is a "_" there.
# Without TORCH a target neither includes nor links LibTorch. TALKS is for rooms without arithmetic, which -O1 compiles in two thirds
# of the time.
function(ablate_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH;TALKS" "" "USES")
  string(REGEX REPLACE "^experiments/" "" name ${folder})
  string(REPLACE "/" "_" name ${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
  get_property(others GLOBAL PROPERTY ablate_folders)
  foreach(other ${others})
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_SOURCE_DIR}/${other}/")
  endforeach()
  set_property(GLOBAL APPEND PROPERTY ablate_folders ${folder})
  if(NOT ABLATE_KERNELS)
    list(FILTER sources EXCLUDE REGEX "/models/(kernel|ops/cpu)/")
  endif()
  add_library(ablate_${name} STATIC ${sources})
  file(GLOB kernels CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/kernel/*.cpp)
  # From version 13 on GCC adds without FMA in some loops and not in others, so a position would have other bits alone than in a batch.
  set_source_files_properties(${kernels} PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS
    "-O3;-fopenmp-simd;-fno-trapping-math;-fno-math-errno;$<$<CXX_COMPILER_ID:GNU>:--param=avoid-fma-max-bits=0>")
  add_library(ablate::${name} ALIAS ablate_${name})
  target_link_libraries(ablate_${name} PUBLIC ablate::options ${arg_USES} PRIVATE ablate_warnings)
  if(arg_TALKS)
    target_compile_options(ablate_${name} PRIVATE "$<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:${ablate_quickly}>")
  endif()
  if(arg_TORCH)
    target_link_libraries(ablate_${name} PUBLIC ablate::torch)
    target_precompile_headers(ablate_${name} REUSE_FROM torch_headers)
  endif()
endfunction()

# Units that the build writes include next to nothing: a change of what they say compiles in no time.
function(ablate_generated target file)
  target_sources(${target} PRIVATE ${file})
  set_source_files_properties(${file} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# The function of experiments/carried_texts.h with this name, which returns the files that match the patterns.
function(ablate_carried_texts target name)
  file(GLOB files CONFIGURE_DEPENDS ${ARGN})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  foreach(file ${files})
    get_filename_component(stem ${file} NAME_WE)
    file(READ ${file} text)
    string(APPEND texts "    {\"${stem}\", R\"yaml(${text})yaml\"},\n")
  endforeach()
  set(unit ${CMAKE_BINARY_DIR}/generated/${name}.cpp)
  file(CONFIGURE OUTPUT ${unit} @ONLY CONTENT "#include \"experiments/carried_texts.h\"\n
constexpr ablate::CarriedText kTexts[] = {\n@texts@};\n
std::span<const ablate::CarriedText> ablate::@name@() { return kTexts; }\n")
  ablate_generated(${target} ${unit})
endfunction()
