# checkabi compares the library with the committed description (abi/securestream.abi, abi/constants.txt); storeabi
# writes that description anew. abi/README.md says when. Both need abigail-tools.
find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  message(STATUS "no python3: no targets checkabi and storeabi")
  return()
endif()

# A program that prints every constant of the header, for the constants are invisible to abidiff.
set(constants_source "${CMAKE_CURRENT_BINARY_DIR}/constants.c")
add_custom_command(
  OUTPUT "${constants_source}"
  COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/script/abi.py" constants
          --header "${CMAKE_CURRENT_SOURCE_DIR}/abi/securestream.h" --output "${constants_source}"
  DEPENDS abi/securestream.h script/abi.py script/header_reader.py
  VERBATIM)
add_executable(sst_constants EXCLUDE_FROM_ALL "${constants_source}")
target_include_directories(sst_constants PRIVATE abi)

foreach(verb check store)
  if(SST_SANITIZE)
    add_custom_target(${verb}abi COMMAND "${CMAKE_COMMAND}" -E echo "${verb}abi: use the preset abi, not a sanitized build"
                      COMMAND "${CMAKE_COMMAND}" -E false)
  else()
    add_custom_target(
      ${verb}abi
      COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/script/abi.py" ${verb} --library
              $<TARGET_FILE:securestream> --constants-program $<TARGET_FILE:sst_constants> --folder
              "${CMAKE_CURRENT_SOURCE_DIR}/abi"
      DEPENDS securestream sst_constants
      USES_TERMINAL VERBATIM)
  endif()
endforeach()
