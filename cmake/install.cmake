# `cmake --install build --prefix P`: the program with its studies and documents, and ablate::models as the CMake
# package Ablate. Both use the LibTorch that they were built with, at its path.
include(CMakePackageConfigHelpers)

install(TARGETS ablate COMPONENT program)
if(TARGET ablate_cuda)  # beside the program, where it looks for it
  install(TARGETS ablate_cuda LIBRARY DESTINATION bin COMPONENT program)
endif()
# As in the source, so that studies find their schema and documents each other.
install(DIRECTORY experiments/studies experiments/corpora DESTINATION share/ablate/experiments COMPONENT program
  PATTERN __pycache__ EXCLUDE)
install(DIRECTORY docs DESTINATION share/ablate COMPONENT program)
# The documents that are generated, by the program, which may have to be told where LibTorch is.
install(CODE "set(ENV{LD_LIBRARY_PATH} \"${torch_root}/lib:\$ENV{LD_LIBRARY_PATH}\")
  execute_process(COMMAND \"${Python3_EXECUTABLE}\" -B \"${CMAKE_SOURCE_DIR}/cmake/docs.py\" \"$<TARGET_FILE:ablate>\"
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/ablate\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION share/ablate COMPONENT program)

set(package lib/cmake/Ablate)
foreach(name models models_options options warnings)
  set_target_properties(ablate_${name} PROPERTIES EXPORT_NAME ${name})
endforeach()
target_compile_features(ablate_options INTERFACE cxx_std_20)
install(TARGETS ablate_models ablate_models_options ablate_options ablate_warnings EXPORT Ablate ARCHIVE DESTINATION lib)
install(DIRECTORY models options DESTINATION include/ablate FILES_MATCHING PATTERN "*.h")
install(EXPORT Ablate NAMESPACE ablate:: FILE AblateTargets.cmake DESTINATION ${package})
configure_package_config_file(cmake/AblateConfig.cmake.in ${CMAKE_BINARY_DIR}/AblateConfig.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/AblateConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/libtorch.cmake ${CMAKE_BINARY_DIR}/AblateConfig.cmake ${CMAKE_BINARY_DIR}/AblateConfigVersion.cmake
  DESTINATION ${package})
