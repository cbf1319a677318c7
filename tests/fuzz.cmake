# Every tests/fuzz/fuzz_NAME.c is a libFuzzer target of its own, linked with all rooms; ctest runs it
# for a short time from a copy of tests/fuzz/corpus/NAME, so that the checked-in corpus stays as it is.
if(NOT FORETRAIN_FUZZ)
  return()
endif()
if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "FORETRAIN_FUZZ needs clang: -DCMAKE_C_COMPILER=clang")
endif()

set(FORETRAIN_FUZZ_SECONDS 10 CACHE STRING "how long ctest runs each fuzz target")
set(instrumented address,undefined,fuzzer-no-link)

foreach(name base job network profile trace measure predict plan report)
  target_compile_options(room_${name} PRIVATE -fsanitize=${instrumented} -fno-sanitize-recover=all)
  target_link_options(room_${name} INTERFACE -fsanitize=address,undefined)
endforeach()

file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/fuzz/fuzz_*.c)
foreach(source ${fuzz_sources})
  get_filename_component(target ${source} NAME_WE)
  string(REPLACE "fuzz_" "" name ${target})
  add_executable(${target} ${source})
  target_compile_options(${target} PRIVATE -fsanitize=address,undefined,fuzzer
                                           -fno-sanitize-recover=all)
  target_link_options(${target} PRIVATE -fsanitize=address,undefined,fuzzer)
  target_link_libraries(${target} PRIVATE room_measure room_report room_trace)

  set(corpus ${CMAKE_CURRENT_BINARY_DIR}/corpus/${name})
  file(MAKE_DIRECTORY ${corpus})
  file(GLOB seeds CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/fuzz/corpus/${name}/*)
  if(seeds)
    file(COPY ${seeds} DESTINATION ${corpus})
  endif()
  add_test(NAME fuzz/${target}
           COMMAND ${target} -max_total_time=${FORETRAIN_FUZZ_SECONDS} -timeout=10 -rss_limit_mb=2048
                   -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/ ${corpus})
  math(EXPR limit "${FORETRAIN_FUZZ_SECONDS} + 120")
  set_tests_properties(fuzz/${target} PROPERTIES TIMEOUT ${limit} LABELS fuzz)
endforeach()
