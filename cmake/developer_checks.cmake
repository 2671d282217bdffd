# Checks that need no test binary: layers, headers, docs. Registered as ctests.
find_package(Python3 COMPONENTS Interpreter)
