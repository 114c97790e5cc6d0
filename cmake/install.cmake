# Shared and static library, header, securestream.pc and the CMake package. `cmake --install <dir> --strip` also strips.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/securestream")
set(generated "${CMAKE_CURRENT_BINARY_DIR}/package")

install(TARGETS securestream securestream_static EXPORT securestreamTargets)
install(FILES abi/securestream.h TYPE INCLUDE)
# cmake --strip leaves archives alone.
install(CODE "if(CMAKE_INSTALL_DO_STRIP)
  execute_process(COMMAND \"${CMAKE_STRIP}\" -g \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libsecurestream.a\"
                  COMMAND_ERROR_IS_FATAL ANY)
endif()")
install(CODE "file(SIZE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libsecurestream.so.${PROJECT_VERSION}\" size)
message(STATUS \"libsecurestream.so.${PROJECT_VERSION}: \${size} bytes\")")

# The .pc finds its prefix from where it lies, so that an installed tree can be moved.
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE lib_full)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE include_full)
file(RELATIVE_PATH pc_to_prefix "${lib_full}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
file(RELATIVE_PATH pc_libdir "${CMAKE_INSTALL_PREFIX}" "${lib_full}")
file(RELATIVE_PATH pc_includedir "${CMAKE_INSTALL_PREFIX}" "${include_full}")
configure_file(cmake/securestream.pc.in "${generated}/securestream.pc" @ONLY)
configure_file(cmake/securestream-static.pc.in "${generated}/securestream-static.pc" @ONLY)
install(FILES "${generated}/securestream.pc" "${generated}/securestream-static.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# Until 1.0 a minor version may break: the package asks for the same one.
configure_package_config_file(cmake/securestreamConfig.cmake.in "${generated}/securestreamConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${generated}/securestreamConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${generated}/securestreamConfig.cmake" "${generated}/securestreamConfigVersion.cmake"
        DESTINATION "${package_dir}")
install(EXPORT securestreamTargets NAMESPACE securestream:: DESTINATION "${package_dir}")
