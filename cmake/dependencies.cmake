# How each dependency is found. `make setup` brings all of them.
find_package(Threads REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc i18n)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(yaml-cpp REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost REQUIRED CONFIG)
find_path(protozero_include protozero/pbf_writer.hpp REQUIRED)  # headers alone

# LibTorch is imported directly rather than by find_package(Torch), which asks for nvcc beside a CUDA wheel.
file(GLOB wheel ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
set(TORCH_ROOT "$ENV{TORCH_ROOT}" CACHE PATH "A LibTorch; empty: the torch wheel in .venv")
find_path(torch_include torch/csrc/api/include/torch/torch.h NO_CACHE REQUIRED
  HINTS ${TORCH_ROOT} ${wheel} PATH_SUFFIXES include)
get_filename_component(torch_root ${torch_include} DIRECTORY)
message(STATUS "LibTorch: ${torch_root}")
set(torch_libraries ${torch_root}/lib/libtorch.so ${torch_root}/lib/libtorch_cpu.so ${torch_root}/lib/libc10.so)
if(EXISTS ${torch_root}/lib/libtorch_cuda.so)
  list(APPEND torch_libraries ${torch_root}/lib/libtorch_cuda.so ${torch_root}/lib/libc10_cuda.so)
endif()
# at::parallel_for runs on one thread in code compiled without OpenMP. A second OpenMP runtime beside
# LibTorch's own would double the threads, so the one that it brings is linked.
file(GLOB torch_openmp ${torch_root}/lib/libgomp*.so*)
if(NOT torch_openmp)
  set(torch_openmp gomp)
endif()
add_library(ablate_torch INTERFACE)
add_library(ablate::torch ALIAS ablate_torch)
target_include_directories(ablate_torch SYSTEM INTERFACE ${torch_include} ${torch_include}/torch/csrc/api/include)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # clang would ask for a runtime of its own
  target_compile_options(ablate_torch INTERFACE -fopenmp)
endif()
target_compile_definitions(ablate_torch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
target_link_options(ablate_torch INTERFACE -Wl,-rpath,${torch_root}/lib -Wl,--allow-shlib-undefined)
target_link_libraries(ablate_torch INTERFACE
  -Wl,--no-as-needed ${torch_libraries} -Wl,--as-needed ${torch_openmp} Threads::Threads)

set(sentencepiece_root ${CMAKE_SOURCE_DIR}/.deps/sentencepiece)
file(STRINGS ${sentencepiece_root}/version sentencepiece_version LIMIT_COUNT 1)
add_library(ablate_sentencepiece INTERFACE)
add_library(ablate::sentencepiece ALIAS ablate_sentencepiece)
target_include_directories(ablate_sentencepiece SYSTEM INTERFACE ${sentencepiece_root}/include)
target_link_libraries(ablate_sentencepiece INTERFACE
  ${sentencepiece_root}/lib/libsentencepiece_train.a ${sentencepiece_root}/lib/libsentencepiece.a Threads::Threads)

add_library(ablate_nlohmann INTERFACE)
add_library(ablate::nlohmann ALIAS ablate_nlohmann)
target_link_libraries(ablate_nlohmann INTERFACE nlohmann_json::nlohmann_json CLI11::CLI11 fmt::fmt-header-only)
