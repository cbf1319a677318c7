# The worker's own tests, with Debian's PyTorch.
if(FORETRAIN_VARIANT STREQUAL gcc)
  add_test(NAME gcc:worker COMMAND /usr/bin/python3 -m unittest discover -s tests/worker -v
           WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(gcc:worker PROPERTIES TIMEOUT 1200 RUN_SERIAL TRUE)
endif()
