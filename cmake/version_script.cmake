# SST_MAP: the version script. SST_EXPORTS: the names in it.
set(SST_MAP "${CMAKE_CURRENT_SOURCE_DIR}/abi/securestream.map")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${SST_MAP}")
file(STRINGS "${SST_MAP}" SST_EXPORTS REGEX "^ *sst_[a-z0-9_]+;$")
list(TRANSFORM SST_EXPORTS REPLACE "[ ;]" "")
