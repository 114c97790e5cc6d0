# Shared by all that builds programs in Go: `source tests/go/build.sh` behind script/lib.sh.
#
#   go_lacks              says what is missing for Go; false: nothing
#   go_library            builds the library, installs it into build/go-prefix, and sets the environment for `go`
#   go_programs FOLDER PACKAGE…   builds commands of the module in FOLDER into build/go-bin, each named as its folder,
#                         or as NAME where PACKAGE is NAME=FOLDER_OF_THE_COMMAND

SST_GO_PREFIX=$SST_ROOT/build/go-prefix
SST_GO_BIN=$SST_ROOT/build/go-bin

go_lacks() {
  have pkg-config || debian_tools pkg-config
  command -v go >/dev/null || { echo "go is missing: install Go 1.24 or later"; return; }
  have pkg-config || { echo "pkg-config is missing: install it with the system's packages"; return; }
  return 1
}

go_library() {
  local log=$SST_ROOT/build/go-install.log
  build_tools
  exec 7>"$SST_ROOT/build/go.lock"
  flock 7
  say "building and installing the library into build/go-prefix"
  cd "$SST_ROOT"
  {
    cmake -S . -B build/go-release -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSST_BUILD_TESTS=OFF \
      -DSST_BUILD_EXAMPLES=ON -DCMAKE_INSTALL_LIBDIR=lib &&
      cmake --build build/go-release && cmake --install build/go-release --strip --prefix "$SST_GO_PREFIX"
  } >"$log" 2>&1 || { cat "$log" >&2; die "the library cannot be built"; }
  exec 7>&-
  export PKG_CONFIG_PATH=$SST_GO_PREFIX/lib/pkgconfig GOPROXY=off GOTOOLCHAIN=local
  # Go's build cache does not see that a C library has changed; it does see flags.
  export CGO_CFLAGS="-O2 -g -DSST_LIBRARY=$(sha256sum <"$SST_GO_PREFIX/lib/libsecurestream.a" | cut -c1-16)"
}

go_programs() {
  local module=$1 package
  shift
  mkdir -p "$SST_GO_BIN"
  for package; do
    go -C "$SST_ROOT/$module" build -o "$SST_GO_BIN/${package%%=*}" "./${package#*=}" >&2 || return 1
  done
}
