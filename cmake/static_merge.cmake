# The static library: one object made of ours and of what it needs of BoringSSL, in which only the names of the version
# script stay global. As plain archives BoringSSL's names would clash with OpenSSL's in one program.
set(names "${CMAKE_CURRENT_BINARY_DIR}/exports.txt")
list(JOIN SST_EXPORTS "\n" text)
file(CONFIGURE OUTPUT "${names}" CONTENT "${text}\n" @ONLY)

set(merged "${CMAKE_CURRENT_BINARY_DIR}/securestream_merged.o")
add_custom_command(
  OUTPUT "${merged}"
  COMMAND "${CMAKE_LINKER}" -r -o "${merged}.all" $<TARGET_OBJECTS:sst_objects> $<TARGET_FILE:boringssl::ssl>
          $<TARGET_FILE:boringssl::crypto>
  COMMAND "${CMAKE_OBJCOPY}" "--keep-global-symbols=${names}" "${merged}.all" "${merged}"
  COMMAND "${CMAKE_COMMAND}" -E rm "${merged}.all"
  DEPENDS sst_objects $<TARGET_OBJECTS:sst_objects> "${names}"
  COMMENT "Merging the static library into one object"
  COMMAND_EXPAND_LISTS VERBATIM)
add_library(securestream_static STATIC "${merged}")
add_library(securestream::static ALIAS securestream_static)
set_source_files_properties("${merged}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
set_target_properties(securestream_static PROPERTIES OUTPUT_NAME securestream LINKER_LANGUAGE C EXPORT_NAME static)
target_include_directories(securestream_static INTERFACE "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/abi>"
                                                         "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_link_libraries(securestream_static INTERFACE stdc++ pthread) # BoringSSL needs a C++ runtime
