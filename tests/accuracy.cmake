# Forecasts of systems that others measured, from their small placements (bench/accuracy/scaling.py), on a seventh of the rows: fails where
# a target is missed. FORETRAIN_SHARED names the folder of the data; without it the test is skipped and says so.
set(shared ${CMAKE_SOURCE_DIR}/../shared)
if(DEFINED ENV{FORETRAIN_SHARED})
  set(shared $ENV{FORETRAIN_SHARED})
endif()
if(FORETRAIN_VARIANT STREQUAL gcc)
  add_test(NAME gcc:accuracy/scaling
           COMMAND /usr/bin/python3 -B ${CMAKE_SOURCE_DIR}/bench/accuracy/scaling.py $<TARGET_FILE:foretrain> ${shared} --every 7)
  set_tests_properties(gcc:accuracy/scaling PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77)
endif()
