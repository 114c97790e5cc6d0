# sst_warnings: all our code. sst_warnings_strict: the library itself.
add_library(sst_warnings INTERFACE)
target_compile_options(sst_warnings INTERFACE -Wall -Wextra -Wshadow $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
                                              $<$<BOOL:${SST_WERROR}>:-Werror>)
add_library(sst_warnings_strict INTERFACE)
target_compile_options(sst_warnings_strict INTERFACE -Wconversion)
target_link_libraries(sst_warnings_strict INTERFACE sst_warnings)
