# What `make install` gives, in a folder that it is installed into: completion, man pages, the C library, the
# Python module.
if(FORETRAIN_VARIANT STREQUAL gcc)
  foreach(part completion manual library python)
    add_test(NAME gcc:install/${part} COMMAND /usr/bin/python3 -m unittest -v test_${part}
             WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/install)
    set_tests_properties(gcc:install/${part} PROPERTIES TIMEOUT 300 ENVIRONMENT "FORETRAIN_BUILD=${CMAKE_BINARY_DIR}")
  endforeach()
endif()
