#!/usr/bin/env bash
# header.sh CASE SCRATCH: the public header compiles alone and binds.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
case_=$1 scratch=$2
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
header=$root/abi/securestream.h

# compile COMPILER LANGUAGE STANDARD: twice included, and nothing before it.
compile() {
  need "$1"
  printf '#include "securestream.h"\n#include "securestream.h"\n' >alone."$2"
  "$1" -std="$3" -Wall -Wextra -Wpedantic -Wconversion -Werror -fsyntax-only -I"$root/abi" alone."$2"
}

# bind ARGUMENT…: SWIG without a warning.
bind() {
  need swig
  cat >stream.i <<I
%module stream
%{
#include "securestream.h"
%}
%include <stdint.i>
%include "securestream.h"
I
  swig -Wall -Werror -DSST_API= -I"$root/abi" "$@" stream.i
}

case $case_ in
  c11_with_gcc) compile gcc c c11 ;;
  cxx17_with_gcc) compile g++ cc c++17 ;;
  c11_with_clang) CI='' need clang-14; compile clang-14 c c11 ;;
  cxx17_with_clang) CI='' need clang-14; compile clang++-14 cc c++17 ;;
  swig_for_python) bind -python -o stream_wrap.c ;;
  swig_for_go) bind -go -cgo -intgosize 64 -o stream_wrap.c ;;
  luajit_cdef)
    need luajit
    # ffi.cdef knows the types of stdint.h and stddef.h, and takes no directives.
    mkdir empty
    : >empty/stdint.h
    : >empty/stddef.h
    gcc -E -P -nostdinc -DSST_API= -Iempty "$header" >stream.cdef
    luajit -e '
      local ffi = require("ffi")
      ffi.cdef(io.open("stream.cdef"):read("*a"))
      assert(ffi.sizeof("sst_progress") == 40)
      assert(ffi.sizeof("sst_error") == 544)
      assert(ffi.C.SST_NEED_OUTPUT == 2)'
    ;;
  *) fail "no such case: $case_" ;;
esac
