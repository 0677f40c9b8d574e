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

file(GLOB wheel ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
set(torch_root "${wheel}")
include(cmake/libtorch.cmake)
message(STATUS "LibTorch ${torch_version}: ${torch_root}")

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
