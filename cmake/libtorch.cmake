# Imports LibTorch as ablate::torch: the one at TORCH_ROOT, or else the torch of the Python that TORCH names (variables of CMake, or
# else of the environment), or else the one at `torch_root`, which becomes the folder taken. Not by find_package(Torch), which asks for
# nvcc beside a CUDA wheel. The installed package reads this file, too.
foreach(name TORCH_ROOT TORCH)
  set(chosen_${name} "$ENV{${name}}")
  if(${name})
    set(chosen_${name} "${${name}}")
  endif()
endforeach()
if(chosen_TORCH_ROOT)
  set(torch_root "${chosen_TORCH_ROOT}")
elseif(chosen_TORCH)  # without importing it, and away from folders that happen to be called torch
  execute_process(COMMAND ${chosen_TORCH} -c
    "import importlib.util; found = importlib.util.find_spec('torch'); print(found.submodule_search_locations[0] if found else '')"
    WORKING_DIRECTORY / OUTPUT_VARIABLE torch_root OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result)
  if(NOT result EQUAL 0 OR NOT torch_root)
    message(FATAL_ERROR "TORCH=${chosen_TORCH} has no torch. Name a Python that has one, or set TORCH_ROOT to the folder of a LibTorch.")
  endif()
endif()
if(NOT EXISTS "${torch_root}/lib/libtorch.so")
  message(FATAL_ERROR "There is no LibTorch in '${torch_root}'. Set TORCH_ROOT to the folder of one; in a checkout of "
    "Ablate, `make setup` brings one.")
endif()
set(torch_version 0)
if(EXISTS "${torch_root}/include/torch/headeronly/version.h")  # older ones have it elsewhere
  file(STRINGS ${torch_root}/include/torch/headeronly/version.h torch_version REGEX "_(MAJOR|MINOR|PATCH) [0-9]")
  string(REGEX MATCHALL "[0-9]+" torch_version "${torch_version}")
  list(JOIN torch_version . torch_version)
endif()
if(torch_version VERSION_LESS 2.11)
  message(FATAL_ERROR "The LibTorch in '${torch_root}' is older than 2.11. Set TORCH_ROOT to the folder of a later one, or TORCH to "
    "a Python that has one; `make setup` brings one.")
endif()
# Not those for CUDA: libtorch.so brings them where it has them, so that a program runs with a LibTorch for CPUs, too.
set(torch_libraries ${torch_root}/lib/libtorch.so ${torch_root}/lib/libtorch_cpu.so ${torch_root}/lib/libc10.so)
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
# Without NDEBUG some classes of LibTorch's headers have members that those of its library lack (at::RecordFunction).
target_compile_definitions(ablate::torch INTERFACE $<$<NOT:$<CONFIG:Release>>:NDEBUG>)
if(ABLATE_RPATH)  # as RPATH, not RUNPATH: what a module of a cluster sets as LD_LIBRARY_PATH must not come first
  target_link_options(ablate::torch INTERFACE LINKER:--disable-new-dtags)
else()
  target_link_options(ablate::torch INTERFACE -Wl,-rpath,${torch_root}/lib)
endif()
# The standard library comes first: libtorch.so of 2.11 exports a std::filesystem of its own that crashes in other programs.
target_link_libraries(ablate::torch INTERFACE
  -Wl,--no-as-needed stdc++ ${torch_libraries} -Wl,--as-needed ${torch_openmp} Threads::Threads ${CMAKE_DL_LIBS})
