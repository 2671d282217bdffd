# One set of flags for every target of ours.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(DAYBREAK_CCACHE ccache)
if(DAYBREAK_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${DAYBREAK_CCACHE})
endif()

find_program(DAYBREAK_LLD NAMES ld.lld-19 ld.lld)
if(DAYBREAK_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_link_options(--ld-path=${DAYBREAK_LLD})
endif()

if(DAYBREAK_ASSERTS)
  string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
  # Line tables are enough for a sanitizer's stack trace and compile in half the time.
  string(REPLACE "-g" "-g1" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
endif()
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

add_library(daybreak_options INTERFACE)
# -ffp-contract=off: a fused multiply-add appears only where the source asks for one, otherwise
# `exact` would depend on the optimiser.
target_compile_options(daybreak_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Werror -ffp-contract=off)
if(NOT DAYBREAK_JOINED)
  # Of joined sources a local of one may have the name of a constant of another.
  target_compile_options(daybreak_options INTERFACE -Wshadow)
endif()
if(DAYBREAK_SANITIZE)
  add_compile_options(-fsanitize=${DAYBREAK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${DAYBREAK_SANITIZE})
  add_compile_definitions(DAYBREAK_SANITIZED=1)
endif()
if(DAYBREAK_ASSERTS)
  target_compile_definitions(daybreak_options INTERFACE _GLIBCXX_ASSERTIONS)
endif()
if(DAYBREAK_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
