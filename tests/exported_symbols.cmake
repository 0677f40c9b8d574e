# The program must not export a symbol that LibTorch's own copies of these libraries could bind to.
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND nm -D --defined-only -C ${PROGRAM} OUTPUT_VARIABLE symbols RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "nm failed on ${PROGRAM}")
endif()
string(REGEX MATCHALL "[^\n]*(sentencepiece::|google::protobuf|FLAGS_|absl::)[^\n]*" clashes "${symbols}")
if(clashes)
  list(LENGTH clashes count)
  list(GET clashes 0 first)
  message(FATAL_ERROR "${PROGRAM} exports ${count} symbols of SentencePiece or its dependencies, such as ${first}")
endif()

# The program answers for MKL whose processor it runs on (models/hardware.h), and no library does, since that would answer for
# whatever program is linked with it.
set(answer mkl_serv_intel_cpu_true)
if(NOT symbols MATCHES "${answer}")
  message(FATAL_ERROR "${PROGRAM} does not export ${answer}")
endif()
execute_process(COMMAND nm --defined-only ${LIBRARY} OUTPUT_VARIABLE symbols ERROR_QUIET RESULT_VARIABLE result)
if(NOT result EQUAL 0 OR symbols MATCHES "${answer}")
  message(FATAL_ERROR "${LIBRARY} cannot be read, or defines ${answer}")
endif()
