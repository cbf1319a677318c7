# Independent oracles: the closed form's ring, all-reduces of unequal starts by all collectives, and the timeline's
# step, against SimGrid's event simulation.
pkg_check_modules(SIMGRID IMPORTED_TARGET simgrid)
if(SIMGRID_FOUND)
  add_executable(ring_by_simulation oracle/ring_by_simulation.c oracle/simulated_ring.c oracle/simulated_platform.c)
  add_executable(collective_by_simulation oracle/collective_by_simulation.c oracle/simulated_collective.c
    oracle/simulated_tree.c oracle/simulated_platform.c)
  add_executable(step_by_simulation oracle/step_by_simulation.c oracle/simulated_step.c oracle/simulated_platform.c)
  foreach(program ring_by_simulation collective_by_simulation step_by_simulation)
    target_link_libraries(${program} PRIVATE room_predict PkgConfig::SIMGRID m)
  endforeach()
else()
  message(WARNING "SimGrid was not found (libsimgrid-dev): the closed form is NOT tested against it")
endif()

# A test named after what it holds against SimGrid: `by_simulation(NAME PROGRAM ARGUMENT...)`.
function(by_simulation name program)
  set(test ${FORETRAIN_VARIANT}:oracle/${name})
  if(SIMGRID_FOUND)
    add_test(NAME ${test} COMMAND ${program} ${ARGN})
  else()
    add_test(NAME ${test} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/oracle/skipped.sh
             "libsimgrid-dev is not installed; ${name} was not held against SimGrid")
  endif()
  set_tests_properties(${test} PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77)
endfunction()

foreach(n 2 16 64 200)
  by_simulation(ring_of_${n} ring_by_simulation closed-form ${n})
endforeach()
foreach(n 2 3 16 64 150)
  by_simulation(all_reduce_of_${n} ring_by_simulation all-reduce ${n})
endforeach()
foreach(kind tree halving-doubling parameter-server bridge)
  foreach(n 2 3 7 16 33)
    by_simulation(${kind}_of_${n} collective_by_simulation ${kind} ${n} pairs)
  endforeach()
endforeach()
foreach(n 4 8 36)
  by_simulation(hierarchical_of_${n} collective_by_simulation hierarchical ${n} pairs)
endforeach()
foreach(kind tree halving-doubling parameter-server bridge hierarchical)
  by_simulation(${kind}_over_shared_ports collective_by_simulation ${kind} 16 ports)
endforeach()

foreach(n 2 3 16 64 200)
  by_simulation(step_of_${n} step_by_simulation ${n})
endforeach()

# The example of the C library, compiled as a user would compile it and linked with libforetrain.so.
add_executable(library_example ${CMAKE_SOURCE_DIR}/examples/library/step_time.c)
target_link_libraries(library_example PRIVATE foretrain_shared)
add_test(NAME ${FORETRAIN_VARIANT}:oracle/library_example COMMAND library_example)
set_tests_properties(${FORETRAIN_VARIANT}:oracle/library_example PROPERTIES
  TIMEOUT 30 PASS_REGULAR_EXPRESSION "step 0\\.119 s, decided by position 3.*142046 iterations")
