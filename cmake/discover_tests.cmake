cmake_minimum_required(VERSION 3.21)
# Makes every case of a test program a ctest entry of its own, named suite.what_condition_outcome, with the label suite.
# The program lists its cases with --list (one name a line), runs one with --run NAME, and exits 77 to say "skipped".
#
#   sst_discover_tests(<target> [LABEL <label>])    in a CMakeLists.txt; the listing is made after each build of the
#                                                   target. LABEL is one more label of all its cases
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(SST_DISCOVER_TESTS "${CMAKE_CURRENT_LIST_FILE}")
  function(sst_discover_tests target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL" "")
    set(list "${CMAKE_CURRENT_BINARY_DIR}/${target}_cases.cmake")
    set(include "${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake")
    add_custom_command(
      TARGET ${target} POST_BUILD BYPRODUCTS "${list}"
      COMMAND "${CMAKE_COMMAND}" "-DPROGRAM=$<TARGET_FILE:${target}>" "-DLIST=${list}"
              "-DFOLDER=${PROJECT_SOURCE_DIR}" "-DLABEL=${arg_LABEL}" -P "${SST_DISCOVER_TESTS}"
      VERBATIM)
    file(WRITE "${include}" "if(EXISTS \"${list}\")\n  include(\"${list}\")\nelse()\n"
                            "  add_test(${target}_is_not_built ${target}_is_not_built)\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include}")
  endfunction()
  return()
endif()

execute_process(COMMAND "${PROGRAM}" --list OUTPUT_VARIABLE cases RESULT_VARIABLE result
                OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} --list failed: ${result}")
endif()
string(REPLACE "\n" ";" cases "${cases}")
set(text "")
set(seen "")
foreach(case IN LISTS cases)
  if(NOT case MATCHES "^([a-z0-9_]+)\\.[a-z0-9_]+$")
    message(FATAL_ERROR "${PROGRAM} --list: '${case}' is not a name like suite.what_condition_outcome")
  endif()
  if(case IN_LIST seen)
    message(FATAL_ERROR "${PROGRAM} --list: '${case}' stands there twice")
  endif()
  list(APPEND seen "${case}")
  set(labels ${CMAKE_MATCH_1} ${LABEL})
  set(alone "")
  if(CMAKE_MATCH_1 STREQUAL "performance")
    set(alone " RUN_SERIAL TRUE")
  endif()
  string(APPEND text "add_test([==[${case}]==] [==[${PROGRAM}]==] --run [==[${case}]==])\n"
                     "set_tests_properties([==[${case}]==] PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300 "
                     "WORKING_DIRECTORY [==[${FOLDER}]==] LABELS [==[${labels}]==]${alone})\n")
endforeach()
file(WRITE "${LIST}" "${text}")
