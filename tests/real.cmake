# Whole runs with real training; also with sanitizers in foretrain itself.
if(NOT FORETRAIN_VARIANT STREQUAL clang)
  file(GLOB tests CONFIGURE_DEPENDS real/test_*.py)
  foreach(test ${tests})
    get_filename_component(name ${test} NAME_WE)
    add_test(NAME ${FORETRAIN_VARIANT}:real/${name} COMMAND /usr/bin/python3 -B ${test})
    set_tests_properties(${FORETRAIN_VARIANT}:real/${name} PROPERTIES TIMEOUT 1200 RUN_SERIAL TRUE
      ENVIRONMENT FORETRAIN=$<TARGET_FILE:foretrain>)
  endforeach()
endif()
