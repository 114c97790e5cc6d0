# Checks of tests/go/run: each function is one case.

nothing_said() {
  local said
  said=$("$@")
  [ -z "$said" ] || { printf '%s\n' "$said"; return 1; }
}

# copy_module: a copy of the module that may be spoiled, in $copy.
copy_module() {
  copy=$work/copy
  rm -rf "$copy"
  mkdir -p "$copy"
  cp -r bindings/go/internal bindings/go/go.mod "$copy"
}

gate_sees_a_change() {
  local root=$work/gate
  rm -rf "$root"
  mkdir -p "$root/bindings/go/internal" "$root/build"
  cp -r abi script "$root"
  cp -r bindings/go/internal/raw "$root/bindings/go/internal"
  ln -s "$SST_ROOT/build/venv" "$root/build/venv"
  "$root/script/generate_go" --check || { echo "the copy is not fresh"; return 1; }
  sed -i 's/^SST_API uint32_t sst_version_number(void);/&\nSST_API uint32_t sst_version_more(void);/' "$root/abi/securestream.h"
  ! "$root/script/generate_go" --check
}

bindings_check_sees() {
  sed 's/^SST_API uint32_t sst_version_number(void);/&\nSST_API uint32_t sst_version_more(void);/' abi/securestream.h >"$work/more.h"
  grep -v '^func Sst_stream_state(' bindings/go/internal/raw/raw.go >"$work/less.go"
  sed 's/^func Sst_trust_load_pem(arg1 \*Trust, arg2 \[\]byte)/func Sst_trust_load_pem(arg1 *Trust, arg2 *byte, arg3 int64)/' \
    bindings/go/internal/raw/raw.go >"$work/untyped.go"
  ! script/check_bindings_go --header "$work/more.h" && ! script/check_bindings_go --raw "$work/less.go" &&
    ! script/check_bindings_go --raw "$work/untyped.go"
}

differing_headers_do_not_compile() {
  copy_module
  go -C "$copy" build ./internal/raw || { echo "the copy does not compile"; return 1; }
  sed -i 's/^\(\tSST_ERR_CERT_EXPIRED *= \).*/\1-521/' "$copy/internal/raw/constants.go"
  ! go -C "$copy" build ./internal/raw || { echo "a wrong constant compiles"; return 1; }
  copy_module
  sed -i 's/^\tGroup  *uint16$/\tGroup uint32/' "$copy/internal/raw/raw.go"
  ! cmp -s "$copy/internal/raw/raw.go" bindings/go/internal/raw/raw.go || { echo "nothing was changed"; return 1; }
  ! go -C "$copy" build ./internal/raw || { echo "a wrong struct compiles"; return 1; }
}

builds_by_flags() {
  export CGO_CFLAGS="$CGO_CFLAGS -I$prefix/include" CGO_LDFLAGS="$prefix/lib/libsecurestream.a -lstdc++ -lpthread"
  PKG_CONFIG=/bin/false go -C bindings/go test -tags securestream_flags -run TestStream_pair .
}

# The blocks in Go of docs/suspensions.md, each a package of its own.
suspension_examples_compile() {
  local module=$work/page
  rm -rf "$module"
  mkdir -p "$module"
  awk -v folder="$module" '/^```go$/ { inside = ++count; system("mkdir " folder "/e" count); print "package e" count "\n" >(folder "/e" count "/example.go"); next }
    /^```/ { inside = 0 } inside { print >(folder "/e" inside "/example.go") }' docs/suspensions.md
  [ "$(find "$module" -name example.go | wc -l)" -ge 7 ] || { echo "docs/suspensions.md has less than seven blocks in Go"; return 1; }
  printf 'module example.test/page\n\ngo 1.24\n' >"$module/go.mod"
  go -C "$module" mod edit -require securestream.example/securestream@v0.0.0 \
    -replace "securestream.example/securestream=$SST_ROOT/bindings/go"
  nothing_said gofmt -l "$module" && go -C "$module" vet ./...
}
