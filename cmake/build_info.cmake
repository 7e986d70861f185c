# Writes OUTPUT from support/build_constants.hpp.in: VERSION, and the commit of SOURCE ("-dirty" when
# tracked files differ from it, "unknown" outside a git checkout).
set(PROJECT_VERSION ${VERSION})
set(CORUN_COMMIT unknown)
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(NOT failed)
  set(CORUN_COMMIT ${commit})
  execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no
    OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    string(APPEND CORUN_COMMIT -dirty)
  endif()
endif()
configure_file(${SOURCE}/support/build_constants.hpp.in ${OUTPUT} @ONLY)
