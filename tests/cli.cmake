# Whole commands: every folder tests/cli/CASE with a file `cmd` is a test.
file(GLOB cases CONFIGURE_DEPENDS cli/*/cmd)
foreach(cmd ${cases})
  get_filename_component(folder ${cmd} DIRECTORY)
  get_filename_component(name ${folder} NAME)
  add_test(NAME ${FORETRAIN_VARIANT}:cli/${name}
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cli/run-case $<TARGET_FILE:foretrain> ${folder})
  set_tests_properties(${FORETRAIN_VARIANT}:cli/${name} PROPERTIES TIMEOUT 60)
endforeach()
