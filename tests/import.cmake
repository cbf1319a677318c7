# Traces of others, found through FORETRAIN_SHARED; where they are not there, the tests say so and are skipped.
file(GLOB tests CONFIGURE_DEPENDS import/test_*.py)
foreach(test ${tests})
  get_filename_component(name ${test} NAME_WE)
  add_test(NAME ${FORETRAIN_VARIANT}:import/${name} COMMAND /usr/bin/python3 -B ${test})
  set_tests_properties(${FORETRAIN_VARIANT}:import/${name} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77
    ENVIRONMENT FORETRAIN=$<TARGET_FILE:foretrain>)
endforeach()
