# Imports LibTorch as ablate::torch: the one at TORCH_ROOT (a variable of CMake, or else of the environment), or else the
# one at `torch_root`, which becomes the folder taken. Not by find_package(Torch), which asks for nvcc beside a CUDA
# wheel. The installed package reads this file, too.
if(TORCH_ROOT)
  set(torch_root "${TORCH_ROOT}")
elseif(NOT "$ENV{TORCH_ROOT}" STREQUAL "")
  set(torch_root "$ENV{TORCH_ROOT}")
endif()
if(NOT EXISTS "${torch_root}/lib/libtorch.so")
  message(FATAL_ERROR "There is no LibTorch in '${torch_root}'. Set TORCH_ROOT to the folder of one; in a checkout of "
    "Ablate, `make setup` brings one.")
endif()
file(STRINGS ${torch_root}/include/torch/headeronly/version.h torch_version REGEX "_(MAJOR|MINOR|PATCH) [0-9]")
string(REGEX MATCHALL "[0-9]+" torch_version "${torch_version}")
list(JOIN torch_version . torch_version)
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
add_library(ablate::torch INTERFACE IMPORTED)
target_include_directories(ablate::torch INTERFACE ${torch_root}/include ${torch_root}/include/torch/csrc/api/include)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # clang would ask for a runtime of its own
  target_compile_options(ablate::torch INTERFACE -fopenmp)
endif()
target_compile_definitions(ablate::torch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
target_link_options(ablate::torch INTERFACE -Wl,-rpath,${torch_root}/lib)
target_link_libraries(ablate::torch INTERFACE
  -Wl,--no-as-needed ${torch_libraries} -Wl,--as-needed ${torch_openmp} Threads::Threads)
