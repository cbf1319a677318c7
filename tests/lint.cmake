# Format, static analysis, man pages: once, on the compile commands of clang's build.
if(FORETRAIN_VARIANT STREQUAL clang)
  add_test(NAME clang:lint COMMAND ${CMAKE_SOURCE_DIR}/scripts/lint ${CMAKE_BINARY_DIR})
  set_tests_properties(clang:lint PROPERTIES TIMEOUT 1200 RUN_SERIAL TRUE)
endif()
