# Checks that need no test binary, as ordinary ctests.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
set(docs ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check_docs.py)
add_test(NAME docs/links COMMAND ${docs} links)
add_test(NAME docs/errors COMMAND ${docs} errors)
add_test(NAME docs/cli COMMAND ${docs} cli $<TARGET_FILE:daybreak>)
add_test(NAME docs/commands COMMAND ${docs} run $<TARGET_FILE:daybreak>)
add_test(NAME docs/layers COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check_layers.py)
add_test(NAME docs/deploy COMMAND ${docs} deploy $<TARGET_FILE:daybreak>)
set_tests_properties(docs/links docs/errors docs/cli docs/commands docs/layers docs/deploy PROPERTIES LABELS docs)
# Sanitizers link with more, other Debians with other versions.
if(DAYBREAK_SANITIZE OR NOT spdlog_VERSION MATCHES "^1\\.10\\.")
  set_tests_properties(docs/deploy PROPERTIES DISABLED ON)
endif()
# The exam's questions are what the generator makes, and the training's judge comes to the exam's verdicts.
add_test(NAME exam/questions COMMAND ${Python3_EXECUTABLE} -m tools.train.questions --check)
add_test(NAME exam/judge COMMAND ${Python3_EXECUTABLE} -m tools.train.check_judge)
set_tests_properties(exam/questions exam/judge PROPERTIES LABELS golden WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
# Other versions of CLI11 lay help out differently; the page is held to Debian 12's, visibly disabled elsewhere.
if(NOT CLI11_VERSION MATCHES "^2\\.1\\.")
  set_tests_properties(docs/cli PROPERTIES DISABLED ON)
endif()

# A dropped Result must not compile: one source, built with and without the bad line.
foreach(variant good bad)
  add_library(compile_fail_${variant} OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/src/testing/dropped_result.cc)
  target_link_libraries(compile_fail_${variant} PRIVATE daybreak_options)
  target_include_directories(compile_fail_${variant} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  add_test(NAME compile_fail/dropped_result_${variant}
           COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target compile_fail_${variant})
  set_tests_properties(compile_fail/dropped_result_${variant} PROPERTIES LABELS unit RUN_SERIAL ON)
endforeach()
target_compile_definitions(compile_fail_bad PRIVATE DROP_THE_RESULT)
set_tests_properties(compile_fail/dropped_result_bad PROPERTIES WILL_FAIL ON)

# The official clients against a server on the bundled model; a visible skip without their packages.
foreach(protocol openai responses anthropic)
  foreach(client python node)
    add_test(NAME client/${protocol}_${client}
             COMMAND ${PROJECT_SOURCE_DIR}/tools/clients/run.sh ${protocol} ${client} $<TARGET_FILE:daybreak>)
    # They share one directory of installed packages.
    set_tests_properties(client/${protocol}_${client} PROPERTIES LABELS client SKIP_RETURN_CODE 77
                         RESOURCE_LOCK client_packages_${client})
  endforeach()
endforeach()
foreach(protocol openapi batches otlp)
  add_test(NAME client/${protocol}
           COMMAND ${PROJECT_SOURCE_DIR}/tools/clients/run.sh ${protocol} python $<TARGET_FILE:daybreak>)
  set_tests_properties(client/${protocol} PROPERTIES LABELS client SKIP_RETURN_CODE 77
                       RESOURCE_LOCK client_packages_python)
endforeach()
add_test(NAME client/retries
         COMMAND ${PROJECT_SOURCE_DIR}/tools/clients/run.sh retries both $<TARGET_FILE:daybreak>)
set_tests_properties(client/retries PROPERTIES LABELS client SKIP_RETURN_CODE 77
                     RESOURCE_LOCK "client_packages_python;client_packages_node")
add_test(NAME client/ai
         COMMAND ${PROJECT_SOURCE_DIR}/tools/clients/run.sh ai node $<TARGET_FILE:daybreak>)
set_tests_properties(client/ai PROPERTIES LABELS client SKIP_RETURN_CODE 77 RESOURCE_LOCK client_packages_node)
# Thousands of odd requests of every operation; not one may be answered with 5xx.
add_test(NAME client/schemathesis
         COMMAND ${PROJECT_SOURCE_DIR}/tools/clients/run.sh schemathesis python $<TARGET_FILE:daybreak>)
set_tests_properties(client/schemathesis PROPERTIES LABELS slow SKIP_RETURN_CODE 77
                     RESOURCE_LOCK client_packages_python)
