# corun_quick_linker(): programs of this folder and those below it are linked by mold, else by lld, if installed: seconds
# instead of a minute for all tests.
find_program(CORUN_LINKER NAMES mold ld.lld)
function(corun_quick_linker)
  if(CORUN_LINKER MATCHES "mold$")
    add_link_options(-fuse-ld=mold)
  elseif(CORUN_LINKER)
    add_link_options(-fuse-ld=lld)
  endif()
endfunction()
