# A room is one folder of src/ and one static library. What a room may link is what docs/architecture.md
# lets it include; tools/check-rooms.py proves the includes themselves.

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(opsight_options INTERFACE)
target_include_directories(opsight_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(opsight_options INTERFACE -Wall -Wextra -Wno-unused-parameter -fno-omit-frame-pointer)
target_compile_definitions(opsight_options INTERFACE OPSIGHT_VERSION="${PROJECT_VERSION}")
if(OPSIGHT_SANITIZE)
  # A finding of UBSan ends the process: one that is only printed leaves a test green, the worker's even unseen.
  target_compile_options(opsight_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize=vptr,function -fno-sanitize-recover=all)
  target_compile_definitions(opsight_options INTERFACE OPSIGHT_SANITIZE=1)
  target_link_options(opsight_options INTERFACE -fsanitize=address,undefined)
endif()

# opsight_timeout(VARIABLE SECONDS): what a test may take; instrumented code is several times slower.
function(opsight_timeout variable seconds)
  if(OPSIGHT_SANITIZE)
    math(EXPR seconds "${seconds} * 3")
  endif()
  set(${variable} ${seconds} PARENT_SCOPE)
endfunction()

# opsight_room(NAME folder... DEPS target...): every .cpp below the folders is the room's.
function(opsight_room name)
  cmake_parse_arguments(ROOM "" "" "FOLDERS;DEPS" ${ARGN})
  set(sources)
  foreach(folder IN LISTS ROOM_FOLDERS)
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  if(NOT sources)
    add_library(opsight_${name} INTERFACE)
    target_link_libraries(opsight_${name} INTERFACE opsight_options ${ROOM_DEPS})
  else()
    add_library(opsight_${name} STATIC ${sources})
    target_link_libraries(opsight_${name} PUBLIC opsight_options ${ROOM_DEPS})
  endif()
endfunction()

# opsight_test(NAME DEPS target...): every *_test.cpp of tests/NAME, as one program, each test known to ctest.
function(opsight_test name)
  cmake_parse_arguments(T "" "" "DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${name}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" target ${name})
  add_executable(test_${target} ${sources})
  target_include_directories(test_${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(test_${target} PRIVATE
    OPSIGHT_SOURCE_DIR="${CMAKE_SOURCE_DIR}" OPSIGHT_BINARY_DIR="${CMAKE_BINARY_DIR}")
  target_link_libraries(test_${target} PRIVATE opsight_options ${T_DEPS} GTest::gtest_main GTest::gmock)
  add_dependencies(test_${target} opsight-worker)
  opsight_timeout(timeout 300)
  # Without parameters' values, which gtest prints as bytes, addresses among them: names must not change by the build.
  gtest_discover_tests(test_${target} TEST_PREFIX "${name}." NO_PRETTY_VALUES DISCOVERY_TIMEOUT 120
    PROPERTIES TIMEOUT ${timeout})
endfunction()
