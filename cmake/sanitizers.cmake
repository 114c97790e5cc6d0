# SST_SANITIZE: the same flags for all that is compiled and linked here. BoringSSL's archives stay as they are; the
# sanitizers see its allocations and its calls into libc, which is what we need of them.
if(SST_SANITIZE STREQUAL "address")
  set(SST_SANITIZE_FLAGS -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(SST_SANITIZE STREQUAL "thread")
  set(SST_SANITIZE_FLAGS -fsanitize=thread -fno-omit-frame-pointer)
elseif(SST_SANITIZE)
  message(FATAL_ERROR "SST_SANITIZE is '${SST_SANITIZE}': use address, thread or nothing")
endif()
add_compile_options(${SST_SANITIZE_FLAGS})
add_link_options(${SST_SANITIZE_FLAGS})
