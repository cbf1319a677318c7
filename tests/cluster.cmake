# Tests on a real cluster of network namespaces, as root, once: with foretrain as users build it. One at a time: they need
# the processors for themselves.
if(NOT FORETRAIN_VARIANT MATCHES "asan|clang")
  file(GLOB tests CONFIGURE_DEPENDS cluster/test_*.py)
  foreach(test ${tests})
    get_filename_component(name ${test} NAME_WE)
    add_test(NAME ${FORETRAIN_VARIANT}:cluster/${name} COMMAND /usr/bin/python3 -B ${test})
    set_tests_properties(${FORETRAIN_VARIANT}:cluster/${name} PROPERTIES TIMEOUT 1200 RUN_SERIAL ON SKIP_RETURN_CODE 77
      ENVIRONMENT FORETRAIN=$<TARGET_FILE:foretrain>)
  endforeach()
endif()
