# daybreak_module(NAME LIBS ... [ALONE ...]): builds src/NAME.
#   x.cc             -> library daybreak_NAME
#   x_test.cc        -> test with label unit; x_LABEL_test.cc -> test with that label
#   x_bench.cc       -> Google Benchmark binary NAME_bench
#   x_fuzz.cc        -> fuzz target (see fuzz/CMakeLists.txt)
# ALONE: sources, or endings of sources, whose local names are also those of another source.
# Include direction is checked by tools/check_layers.py from the table in ARCHITECTURE.md.

# What the tsan preset builds: the tests labelled threads and what they need.
add_custom_target(threads_tests)

# Modules whose sources include Asio.
set(DAYBREAK_NETWORK_MODULES http api cli)

set(DAYBREAK_TEST_LABELS golden property fault threads shared slow client)

function(daybreak_module name)
  cmake_parse_arguments(arg "" "" "LIBS;ALONE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  set(benches ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench|fuzz)\\.cc$|/main\\.cc$")
  if(sources)
    add_library(daybreak_${name} STATIC ${sources})
    target_link_libraries(daybreak_${name} PRIVATE daybreak_options)
    target_link_libraries(daybreak_${name} PUBLIC ${arg_LIBS})
    target_include_directories(daybreak_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    daybreak_join_sources(daybreak_${name} "${arg_ALONE}" ${sources})
    if(name IN_LIST DAYBREAK_NETWORK_MODULES)
      daybreak_reuse(daybreak_${name} precompiled_network)
    else()
      daybreak_reuse(daybreak_${name} precompiled_base)
    endif()
  else()
    add_library(daybreak_${name} INTERFACE)
    target_link_libraries(daybreak_${name} INTERFACE ${arg_LIBS})
    target_include_directories(daybreak_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src)
  endif()
  if(NOT DAYBREAK_DEVELOPER)
    return()
  endif()
  foreach(label IN LISTS DAYBREAK_TEST_LABELS)
    set(labelled ${tests})
    list(FILTER labelled INCLUDE REGEX "_${label}_test\\.cc$")
    list(REMOVE_ITEM tests ${labelled} "")
    daybreak_test_binary(${name} ${label} "${labelled}")
  endforeach()
  daybreak_test_binary(${name} unit "${tests}")
  if(benches)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE daybreak_options daybreak_${name} benchmark::benchmark_main)
  endif()
endfunction()

# daybreak_join_sources(TARGET ALONE SOURCES...): with DAYBREAK_JOINED the sources are compiled several
# at a time, each header once for all of them: a build from nothing takes half the time, a change of
# one source more.
function(daybreak_join_sources target alone)
  if(NOT DAYBREAK_JOINED)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  foreach(source IN LISTS ARGN)
    foreach(ending IN LISTS alone)
      if(source MATCHES "${ending}$")
        set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      endif()
    endforeach()
  endforeach()
endfunction()

# daybreak_test_binary(MODULE LABEL SOURCES): one executable MODULE_LABEL_test, each case a ctest.
function(daybreak_test_binary name label sources)
  if(NOT sources)
    return()
  endif()
  set(target ${name}_${label}_test)
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE daybreak_options daybreak_${name} daybreak_testing GTest::gtest_main)
  target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
  daybreak_reuse(${target} precompiled_tests)
  if(label STREQUAL "threads")
    add_dependencies(threads_tests ${target})
  endif()
  set(limits "")
  if(label STREQUAL "slow")
    set(limits TIMEOUT 86400)  # seconds; a million tokens on a busy machine
  endif()
  gtest_discover_tests(${target} TEST_PREFIX "${name}/" DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${label} ${limits} SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]"
    # Two properties, because a list inside PROPERTIES loses all but its first element.
    ENVIRONMENT "DAYBREAK_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
    ENVIRONMENT_MODIFICATION "DAYBREAK_BINARY=set:${CMAKE_BINARY_DIR}/daybreak")
endfunction()
