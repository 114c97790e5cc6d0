#!/usr/bin/env bash
# luajit.sh SCRIPT LIBRARY: runs a LuaJIT example against the library as built.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need luajit
timeout 60 luajit "$1" "$2"
