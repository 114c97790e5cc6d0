#!/usr/bin/env bash
# package.sh CASE SCRATCH BUILD: what `cmake --install` gives is enough to compile, link and run.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
case_=$1 scratch=$2 build=$3
mkdir -p "$scratch"
prefix=$scratch/prefix
work=$scratch/$case_
rm -rf "$work"
mkdir -p "$work"
cd "$work"

# The library folder depends on the system; the installed package says where it is.
pc_folder() { dirname "$(find "${1:-$prefix}" -name securestream.pc)"; }
lib_folder() { dirname "$(pc_folder)"; }
config() { PKG_CONFIG_PATH=$(pc_folder "${2:-}") pkg-config $1 securestream; }

# A program in which OpenSSL and securestream each make a ClientHello: did each get its own library?
write_both() {
  cat >both.c <<'C'
#include <openssl/ssl.h>
#include <securestream.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the ClientHello that OpenSSL makes; 0: it failed. */
static int their_hello(void) {
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  SSL *ssl = SSL_new(context);
  BIO *out = BIO_new(BIO_s_mem());
  SSL_set_bio(ssl, BIO_new(BIO_s_mem()), out);
  const int asks = SSL_get_error(ssl, SSL_connect(ssl)) == SSL_ERROR_WANT_READ;
  const int made = (int)BIO_ctrl_pending(out);
  SSL_free(ssl);
  SSL_CTX_free(context);
  return asks ? made : 0;
}

static size_t our_hello(void) {
  sst_config *config = sst_config_new();
  sst_config_set_verify(config, SST_VERIFY_NONE);
  sst_stream *stream = NULL;
  uint8_t out[SST_RECORD_MAX] = {0};
  sst_progress done = {0};
  if (sst_stream_new(config, SST_ROLE_CLIENT, &stream) == SST_OK &&
      sst_stream_handshake(stream, NULL, 0, out, sizeof out, &done) != SST_NEED_INPUT) {
    done.produced = 0;
  }
  sst_stream_free(stream);
  sst_config_free(config);
  return out[0] == 22 ? done.produced : 0;
}

int main(void) {
  const char *version = OpenSSL_version(OPENSSL_VERSION);
  const int theirs = their_hello();
  const size_t ours = our_hello();
  printf("ClientHello of %s: %d bytes, of securestream %s: %zu\n", version, theirs, sst_version_string(), ours);
  return strncmp(version, "OpenSSL ", 8) == 0 && theirs > 0 && ours > 0 && sst_live_objects() == 0 ? 0 : 1;
}
C
  need pkg-config
  pkg-config --exists 'openssl >= 3' || skip "the development files of OpenSSL 3 are missing (Debian: libssl-dev)"
}

case $case_ in
  installs)
    rm -rf "$prefix"
    cmake --install "$build" --prefix "$prefix" --strip | grep 'bytes' | sed 's/^-- /note: /'
    [ "$(find "$prefix" -name 'libsecurestream*' | wc -l)" = 4 ] || fail "not four library files: .so, .so.0, .so.0.x.y, .a"
    [ -f "$prefix/include/securestream.h" ] || fail "no header"
    [ -f "$(pc_folder)/securestream.pc" ] || fail "no securestream.pc"
    ! readelf -SW "$(lib_folder)/libsecurestream.so" | grep -q '\.debug_info' || fail "the library is not stripped"
    ;;
  suspension_examples_compile)
    need pkg-config
    awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$root/docs/suspensions.md" >examples.c
    [ "$(grep -c '^void \|^sst_status ' examples.c)" -ge 9 ] || fail 'docs/suspensions.md has less than nine functions in C'
    gcc -std=c11 -Wall -Wextra -Wshadow -Wconversion -Werror -c -o examples.o examples.c $(config --cflags)
    ;;
  readme_example_runs)
    need pkg-config
    [ -f "$root/README.md" ] || fail "there is no README.md"
    awk '/^```c$/ { inside = 1; next } /^```/ && inside { exit } inside' "$root/README.md" >example.c
    [ -s example.c ] || fail 'README.md has no block that begins with ```c'
    gcc -std=c11 -Wall -Wextra -Werror -o example example.c $(config '--cflags --libs')
    LD_LIBRARY_PATH=$(lib_folder) timeout 60 ./example
    ;;
  moved_prefix_is_found_by_pkg_config)
    need pkg-config
    cp -a "$prefix" moved
    [ "$(cd "$(config --variable=includedir "$work/moved")" && pwd -P)" = "$(cd moved/include && pwd -P)" ] ||
      fail "securestream.pc does not follow its prefix"
    ;;
  cmake_package_is_found)
    cat >CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.21)
project(consumer LANGUAGES C)
find_package(securestream 0.1 REQUIRED)
add_executable(shared main.c)
target_link_libraries(shared PRIVATE securestream::securestream)
add_executable(static main.c)
target_link_libraries(static PRIVATE securestream::static)
C
    cat >main.c <<'C'
#include <securestream.h>
int main(void) { return sst_version_number() == SST_VERSION_NUMBER ? 0 : 1; }
C
    cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix" >configure.log || { cat configure.log; exit 1; }
    cmake --build build
    build/shared
    build/static
    ! readelf -d build/static | grep -q 'NEEDED.*libsecurestream' || fail "the static program needs the shared library"
    readelf -d build/shared | grep -q 'NEEDED.*libsecurestream.so.0' || fail "the shared program does not need it"
    ;;
  static_library_lives_beside_shared_openssl)
    write_both
    # -l would take the shared library, which lies in the same folder.
    gcc -std=c11 -o both both.c $(config --cflags) $(config '--static --libs' | sed 's/-lsecurestream/-l:libsecurestream.a/') \
      $(pkg-config --cflags --libs openssl)
    timeout 60 ./both
    ;;
  static_library_lives_beside_static_openssl)
    write_both
    [ -n "$(find /usr/lib /usr/local/lib -name libssl.a 2>/dev/null)" ] || skip "libssl.a is missing (Debian: libssl-dev)"
    gcc -std=c11 -static -o both both.c $(config '--cflags --static --libs') $(pkg-config --cflags --static --libs openssl) \
      2>link.log || { cat link.log; exit 1; }
    timeout 60 ./both
    ;;
  *) fail "no such case: $case_" ;;
esac
