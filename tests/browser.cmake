# The report in a real browser.
if(FORETRAIN_VARIANT STREQUAL gcc)
  add_test(NAME gcc:browser COMMAND /usr/bin/python3 -B browser/test_report.py
           WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(gcc:browser PROPERTIES TIMEOUT 600 RUN_SERIAL TRUE SKIP_RETURN_CODE 77
    ENVIRONMENT FORETRAIN=$<TARGET_FILE:foretrain>)
endif()
