# Whole runs with real training: the main job as users build foretrain, all others, most of them on a real cluster of network
# namespaces, with sanitizers in it.
set(run_as_built test_main_job)
file(GLOB tests CONFIGURE_DEPENDS real/test_*.py)
foreach(test ${tests})
  get_filename_component(name ${test} NAME_WE)
  set(variant asan)
  if(name IN_LIST run_as_built)
    set(variant gcc)
  endif()
  if(NOT FORETRAIN_VARIANT STREQUAL variant)
    continue()
  endif()
  add_test(NAME ${variant}:real/${name} COMMAND /usr/bin/python3 -B ${test})
  set_tests_properties(${variant}:real/${name} PROPERTIES TIMEOUT 1200 RUN_SERIAL TRUE SKIP_RETURN_CODE 77
    ENVIRONMENT FORETRAIN=$<TARGET_FILE:foretrain>)
endforeach()
