# The report in a real browser.
if(FORETRAIN_VARIANT STREQUAL gcc)
  add_test(NAME gcc:browser COMMAND /usr/bin/python3 -B browser/test_report.py)
  set_tests_properties(gcc:browser PROPERTIES TIMEOUT 600 RUN_SERIAL TRUE SKIP_RETURN_CODE 77
    ENVIRONMENT FORETRAIN=$<TARGET_FILE:foretrain>)
endif()
