# cmake -DSOURCE=FOLDER -DUNIT=FILE -P commit.cmake writes kCommit, what `git describe` says of the source, into the unit,
# which stays as it is if nothing has changed. Empty in an archive of the source, which has no history.
cmake_minimum_required(VERSION 3.22)
set(commit "")
if(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${UNIT} CONTENT "namespace ablate::run {\nextern const char kCommit[] = \"@commit@\";\n}\n" @ONLY)
