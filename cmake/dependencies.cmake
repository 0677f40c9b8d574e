# How each dependency is found. `make setup` brings all of them.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
add_library(ablate::utf8proc ALIAS PkgConfig::utf8proc)
find_path(protozero_include protozero/pbf_writer.hpp REQUIRED)  # headers alone

file(GLOB wheel ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
set(torch_root "${wheel}")
include(cmake/libtorch.cmake)
message(STATUS "LibTorch ${torch_version}: ${torch_root}")

# NCCL connects ranks on CUDA devices. LibTorch brings the library; its headers, and those of CUDA that they include, are
# taken from NVIDIA's wheels beside torch alone, since the layout of c10d's classes depends on the version of NCCL.
if(EXISTS ${torch_root}/lib/libtorch_cuda.so)
  set(nvidia ${torch_root}/../nvidia)
  file(GLOB nccl_headers ${nvidia}/nccl/include/nccl.h ${nvidia}/cu*/include/crt/host_config.h ${nvidia}/cu*/include/nv/target)
  list(LENGTH nccl_headers found)
  if(found EQUAL 3)
    file(GLOB nccl_options ${nvidia}/nccl/include ${nvidia}/cu*/include)
    list(TRANSFORM nccl_options PREPEND -isystem)
    list(APPEND nccl_options -DUSE_C10D_NCCL)
    message(STATUS "NCCL: ${nvidia}/nccl")
  else()
    message(STATUS "NCCL: none, since this LibTorch lacks some of its headers: see docs/gpu.md")
  endif()
endif()

set(sentencepiece_root ${CMAKE_SOURCE_DIR}/.deps/sentencepiece)
file(STRINGS ${sentencepiece_root}/version sentencepiece_version LIMIT_COUNT 1)
add_library(ablate_sentencepiece INTERFACE)
add_library(ablate::sentencepiece ALIAS ablate_sentencepiece)
target_include_directories(ablate_sentencepiece SYSTEM INTERFACE ${sentencepiece_root}/include)
target_link_libraries(ablate_sentencepiece INTERFACE
  ${sentencepiece_root}/lib/libsentencepiece_train.a ${sentencepiece_root}/lib/libsentencepiece.a Threads::Threads)
target_link_options(ablate_sentencepiece INTERFACE LINKER:--exclude-libs,libsentencepiece_train.a:libsentencepiece.a)

add_library(ablate_nlohmann INTERFACE)
add_library(ablate::nlohmann ALIAS ablate_nlohmann)
target_link_libraries(ablate_nlohmann INTERFACE nlohmann_json::nlohmann_json CLI11::CLI11 fmt::fmt-header-only)
