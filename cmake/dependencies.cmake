# How each dependency is found. `make setup` brings what a build needs; cmake/vendor.cmake says where libraries come from.
include(CheckCXXSourceCompiles)
include(cmake/jobs.cmake)
include(cmake/vendor.cmake)
find_package(Threads REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
ablate_dependency(fmt HEADER fmt/format.h IF "FMT_VERSION >= 80000" LIBRARY fmt INCLUDE include SOURCES src/format.cc)
ablate_dependency(cli11 HEADER CLI/CLI.hpp IF "CLI11_VERSION_MAJOR > 2 || (CLI11_VERSION_MAJOR == 2 && CLI11_VERSION_MINOR >= 1)" INCLUDE include)
ablate_dependency(nlohmann_json HEADER nlohmann/json.hpp IF "NLOHMANN_JSON_VERSION_MAJOR >= 3 && NLOHMANN_JSON_VERSION_MINOR >= 10" INCLUDE include)
ablate_dependency(protozero HEADER protozero/pbf_writer.hpp INCLUDE include)
ablate_dependency(yaml-cpp HEADER yaml-cpp/yaml.h LIBRARY libyaml-cpp.a INCLUDE include SOURCES src/*.cpp)
ablate_dependency(utf8proc HEADER utf8proc.h LIBRARY libutf8proc.a INCLUDE . SOURCES utf8proc.c)
# The parts for UTF-8; the sources left out are included by others, or are of other interfaces and encodings.
ablate_dependency(onig HEADER oniguruma.h IF "ONIGURUMA_VERSION_MAJOR == 6 && ONIGURUMA_VERSION_MINOR >= 9" LIBRARY onig INCLUDE src
  SOURCES src/reg*.c src/st.c src/onig_init.c src/ascii.c src/utf8.c src/unicode.c src/unicode_*_key.c WITHOUT "/reg(gnu|posix|poserr)\\.c$")
# The system's shared one also exports regcomp and its kin, with other structs than libc's; so libc comes before it, where they are looked for.
get_target_property(onig_libraries ablate_onig INTERFACE_LINK_LIBRARIES)
if(onig_libraries)
  set_target_properties(ablate_onig PROPERTIES INTERFACE_LINK_LIBRARIES
    "-Wl,--no-as-needed,-lc,--as-needed;${onig_libraries}")
endif()
if(onig_source)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/onig/config.h CONTENT "#define HAVE_ALLOCA 1\n#define HAVE_ALLOCA_H 1\n\
#define HAVE_STDINT_H 1\n#define HAVE_UNISTD_H 1\n#define SIZEOF_INT 4\n#define SIZEOF_LONG 8\n#define SIZEOF_LONG_LONG 8\n\
#define SIZEOF_VOIDP 8\n#define PACKAGE_VERSION \"${onig_version}\"\n")
  target_include_directories(ablate_onig PRIVATE ${CMAKE_BINARY_DIR}/generated/onig)
endif()
ablate_dependency(zlib HEADER zlib.h LIBRARY z INCLUDE . SOURCES *.c)

if(SKBUILD)  # the one whose version the wheel asks for
  execute_process(COMMAND ${Python_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/wheels/libtorch.py
    OUTPUT_VARIABLE wheel OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
else()
  file(GLOB wheel ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
endif()
set(torch_root "${wheel}")
include(cmake/libtorch.cmake)
message(STATUS "LibTorch ${torch_version}: ${torch_root}")
# Its headers bring those of an fmt of its own, whose functions no library has.
target_compile_definitions(ablate::torch INTERFACE FMT_HEADER_ONLY=1)

# CUDA graphs need CUDA's headers, and NCCL, which connects ranks on CUDA devices, its own. LibTorch brings the libraries; the headers are
# taken from NVIDIA's wheels beside torch alone, since the layout of c10d's classes depends on the version of NCCL.
if(EXISTS ${torch_root}/lib/libtorch_cuda.so)
  set(nvidia ${torch_root}/../nvidia)
  file(GLOB nccl_headers ${nvidia}/nccl/include/nccl.h ${nvidia}/cu*/include/crt/host_config.h ${nvidia}/cu*/include/nv/target)
  list(LENGTH nccl_headers found)
  if(found EQUAL 3)
    file(GLOB cuda_options ${nvidia}/nccl/include ${nvidia}/cu*/include)
    list(TRANSFORM cuda_options PREPEND -isystem)
    list(APPEND cuda_options -DUSE_C10D_NCCL)
    message(STATUS "CUDA graphs and NCCL: ${nvidia}")
  else()
    message(STATUS "CUDA graphs and NCCL: none, since some of their headers are missing: see docs/gpu.md")
  endif()
endif()

# Never the system's: a shared one beside LibTorch clashes in symbols of protobuf and gflags. So it is static, and nothing is exported.
# The folder is also what bench/consumer is built with.
ablate_dependency(sentencepiece SOURCES sentencepiece/src/*.cc sentencepiece/src/builtin_pb/*.cc
  sentencepiece/third_party/protobuf-lite/*.cc sentencepiece/third_party/absl/flags/flag.cc
  WITHOUT "_(test|main)\\.cc$|/testharness\\.cc$" DEFINITIONS HAVE_PTHREAD=1 _USE_INTERNAL_STRING_VIEW)
# Its protobuf counts an element before the element is there, so that a vector whose memory ends is destroyed with one that never was.
set(repeated_field ${sentencepiece_source}/sentencepiece/third_party/protobuf-lite/google/protobuf/repeated_field.h)
file(READ ${repeated_field} text)
string(REGEX REPLACE "(  \\+\\+rep_->allocated_size;\n)(  typename TypeHandler::Type\\* result =\n[^;]*;\n)" "\\2\\1" mended "${text}")
if(NOT mended STREQUAL text)
  file(WRITE ${repeated_field} "${mended}")
endif()
set(sentencepiece_root ${CMAKE_BINARY_DIR}/sentencepiece)
set(inside ${sentencepiece_source}/sentencepiece)
file(COPY ${inside}/src/sentencepiece_processor.h ${inside}/src/sentencepiece_trainer.h DESTINATION ${sentencepiece_root}/include)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/sentencepiece/config.h
  CONTENT "#define VERSION \"${sentencepiece_version}\"\n#define PACKAGE_STRING \"sentencepiece\"\n#define INSTALL_DATADIR \"\"\n")
target_include_directories(ablate_sentencepiece SYSTEM PUBLIC ${sentencepiece_root}/include)
target_include_directories(ablate_sentencepiece PRIVATE ${CMAKE_BINARY_DIR}/generated/sentencepiece ${inside} ${inside}/src
  ${inside}/src/builtin_pb ${inside}/third_party ${inside}/third_party/protobuf-lite)
target_link_libraries(ablate_sentencepiece PUBLIC Threads::Threads)
target_link_options(ablate_sentencepiece INTERFACE LINKER:--exclude-libs,libsentencepiece.a)
# Half of its protobuf's sources leave macros behind that the next source in a unit may not find.
set_target_properties(ablate_sentencepiece PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${sentencepiece_root}/lib UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16
  UNITY_BUILD_CODE_AFTER_INCLUDE "#ifdef PROTOBUF_NAMESPACE\n#include <google/protobuf/port_undef.inc>\n#endif")

add_library(ablate_nlohmann INTERFACE)
add_library(ablate::nlohmann ALIAS ablate_nlohmann)
target_link_libraries(ablate_nlohmann INTERFACE ablate::nlohmann_json ablate::cli11 ablate::fmt)

# For the tests alone, so nothing is downloaded for it here.
file(GLOB googletest ${ABLATE_VENDOR}/googletest*)
if(ABLATE_SYSTEM_LIBRARIES)
  find_package(GTest QUIET)
endif()
if(NOT TARGET GTest::gtest_main AND googletest)
  ablate_dependency(googletest INCLUDE googletest/include SOURCES googletest/src/gtest-all.cc googletest/src/gtest_main.cc)
  target_include_directories(ablate_googletest PRIVATE ${googletest_source}/googletest)
  target_link_libraries(ablate_googletest PUBLIC Threads::Threads)
  add_library(GTest::gtest_main ALIAS ablate_googletest)
endif()
