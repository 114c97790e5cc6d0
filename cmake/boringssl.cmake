# Targets boringssl::headers, boringssl::ssl and boringssl::crypto.
#
# -DBORINGSSL_ROOT=<prefix> (or the environment variable) names a build with include/openssl, lib/libssl.a and
# lib/libcrypto.a: position-independent code. Without it the pinned one is built once and cached: boringssl/build.sh.
if(NOT BORINGSSL_ROOT)
  set(BORINGSSL_ROOT "$ENV{BORINGSSL_ROOT}")
endif()
if(NOT BORINGSSL_ROOT)
  get_filename_component(cmake_folder "${CMAKE_COMMAND}" DIRECTORY)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env "PATH=${cmake_folder}:$ENV{PATH}"
                          "${CMAKE_CURRENT_SOURCE_DIR}/cmake/boringssl/build.sh" # progress comes on stderr
                  OUTPUT_VARIABLE BORINGSSL_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "BoringSSL could not be built: see above, or give -DBORINGSSL_ROOT=<prefix>")
  endif()
endif()
foreach(file include/openssl/ssl.h lib/libssl.a lib/libcrypto.a)
  if(NOT EXISTS "${BORINGSSL_ROOT}/${file}")
    message(FATAL_ERROR "BORINGSSL_ROOT: there is no ${BORINGSSL_ROOT}/${file}")
  endif()
endforeach()
file(STRINGS "${BORINGSSL_ROOT}/include/openssl/base.h" api REGEX "define OPENSSL_IS_BORINGSSL")
if(NOT api)
  message(FATAL_ERROR "BORINGSSL_ROOT: ${BORINGSSL_ROOT} is not BoringSSL")
endif()
message(STATUS "BoringSSL: ${BORINGSSL_ROOT}")

# Its debug information is ten times its code. Without it our library links faster and the description of the ABI
# (abi.cmake) holds no type of BoringSSL. The sanitized builds keep it, for their backtraces.
foreach(name crypto ssl)
  set(archive "${BORINGSSL_ROOT}/lib/lib${name}.a")
  if(NOT SST_SANITIZE)
    set(stripped "${CMAKE_CURRENT_BINARY_DIR}/boringssl/lib${name}.a")
    if(NOT EXISTS "${stripped}" OR "${archive}" IS_NEWER_THAN "${stripped}"
       OR NOT "${BORINGSSL_ROOT}" STREQUAL "${SST_STRIPPED_FROM}")
      file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/boringssl")
      execute_process(COMMAND "${CMAKE_STRIP}" -g -o "${stripped}" "${archive}" COMMAND_ERROR_IS_FATAL ANY)
    endif()
    set(archive "${stripped}")
  endif()
  add_library(boringssl::${name} STATIC IMPORTED)
  set_target_properties(boringssl::${name} PROPERTIES IMPORTED_LOCATION "${archive}"
                                                      IMPORTED_LINK_INTERFACE_LANGUAGES CXX)
endforeach()
set(SST_STRIPPED_FROM "${BORINGSSL_ROOT}" CACHE INTERNAL "prefix that the stripped archives were made from")

add_library(boringssl::headers INTERFACE IMPORTED)
target_include_directories(boringssl::headers SYSTEM INTERFACE "${BORINGSSL_ROOT}/include")
find_package(Threads REQUIRED)
target_link_libraries(boringssl::crypto INTERFACE boringssl::headers Threads::Threads)
target_link_libraries(boringssl::ssl INTERFACE boringssl::crypto)
