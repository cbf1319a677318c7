# Whole runs with real training, most of them on a real cluster of network namespaces, with sanitizers in foretrain itself;
# the main job also as users build it.
if(FORETRAIN_VARIANT STREQUAL clang)
  return()
endif()
file(GLOB tests CONFIGURE_DEPENDS real/test_*.py)
foreach(test ${tests})
  get_filename_component(name ${test} NAME_WE)
  if(FORETRAIN_VARIANT STREQUAL gcc AND NOT name STREQUAL test_main_job)
    continue()
  endif()
  add_test(NAME ${FORETRAIN_VARIANT}:real/${name} COMMAND /usr/bin/python3 -B ${test})
  set_tests_properties(${FORETRAIN_VARIANT}:real/${name} PROPERTIES TIMEOUT 1200 RUN_SERIAL TRUE SKIP_RETURN_CODE 77
    ENVIRONMENT FORETRAIN=$<TARGET_FILE:foretrain>)
endforeach()
