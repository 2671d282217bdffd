# Headers of the standard library and of other projects, parsed once per build instead of once per
# source. No header of ours is in here, and `./dev ci` builds release without (its cache is filled by
# the sanitizer builds before): a source that forgets an include does not pass there. A precompiled header holds absolute paths, so ccache does not find in
# one checkout what was built with it in another: `./dev` switches it on where the cache is empty.
option(DAYBREAK_PRECOMPILED "precompile headers of others" OFF)

set(precompiled_std
  <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath> <condition_variable> <cstddef> <cstdint>
  <cstdio> <cstdlib> <cstring> <deque> <filesystem> <fstream> <functional> <limits> <map> <memory> <mutex>
  <numeric> <optional> <random> <set> <span> <sstream> <string> <string_view> <thread> <tuple>
  <unordered_map> <unordered_set> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>)
set(precompiled_net
  <boost/asio/any_io_executor.hpp> <boost/asio/as_tuple.hpp> <boost/asio/awaitable.hpp>
  <boost/asio/co_spawn.hpp> <boost/asio/io_context.hpp> <boost/asio/ip/tcp.hpp> <boost/asio/post.hpp>
  <boost/asio/steady_timer.hpp> <boost/asio/strand.hpp> <boost/asio/thread_pool.hpp>
  <boost/asio/use_awaitable.hpp>)

# daybreak_precompiled(NAME HEADERS LIBS [EXECUTABLE]): a target whose headers others reuse;
# executables and libraries are compiled with different flags, so they cannot share one.
function(daybreak_precompiled name)
  cmake_parse_arguments(arg "EXECUTABLE" "" "HEADERS;LIBS" ${ARGN})
  set(source ${CMAKE_BINARY_DIR}/precompiled/${name}.cc)
  file(GENERATE OUTPUT ${source} CONTENT "int main() {}\n")
  if(arg_EXECUTABLE)
    add_executable(${name} ${source})
  else()
    add_library(${name} OBJECT ${source})
  endif()
  target_link_libraries(${name} PRIVATE daybreak_options ${arg_LIBS})
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Without the time in it, ccache finds what was built with it again.
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# daybreak_reuse(TARGET NAME): compiles TARGET with the headers of daybreak_precompiled(NAME).
function(daybreak_reuse target name)
  if(DAYBREAK_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

if(DAYBREAK_PRECOMPILED)
  set(precompiled_libs fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json simdjson::simdjson Threads::Threads)
  daybreak_precompiled(precompiled_base HEADERS ${precompiled_std} LIBS ${precompiled_libs})
  daybreak_precompiled(precompiled_network HEADERS ${precompiled_std} ${precompiled_net} LIBS ${precompiled_libs} Boost::headers)
  if(DAYBREAK_DEVELOPER)
    daybreak_precompiled(precompiled_tests EXECUTABLE
      HEADERS ${precompiled_std} <gtest/gtest.h> LIBS ${precompiled_libs} GTest::gtest)
    target_compile_definitions(precompiled_tests PRIVATE _GLIBCXX_ASSERTIONS)
  endif()
endif()
