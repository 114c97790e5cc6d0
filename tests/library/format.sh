#!/usr/bin/env bash
# The code is as the pinned clang-format leaves it.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need clang-format
"$root/script/format" --check
