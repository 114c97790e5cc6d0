#!/usr/bin/env bash
# Files of scenarios that do not parse (README.md, sections 1 and 2): refusals.sh DRIVER expects exit code 2 for each.
set -euo pipefail
driver=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0

# expect CODE NAME LINES: the exit code of --list where NAME.scn is the only file.
expect() {
  local code=0
  printf 'Title\n\n%b\n' "$3" >"$folder/$2.scn"
  "$driver" --in "$folder" --list >"$folder/out" 2>&1 || code=$?
  rm "$folder/$2.scn"
  if [[ $code == "$1" ]]; then
    passed=$((passed + 1))
    return
  fi
  failed=$((failed + 1))
  printf '%s.scn: expected exit code %s, got %s\n%b\n' "$2" "$1" "$code" "$3"
  cat "$folder/out"
}

steps='when both shake hands'
expect 0 good "variants: version 1.2, 1.3\nvariants: chunk whole, byte, 7\nvariants: room plenty, 7\nrepeat: 3 \n$steps"
expect 0 good_0 "variants: version \"1.2\"\n$steps"
expect 2 version "variants: version 1.4\n$steps"
expect 2 version "variants: version 1.2, 1.1\n$steps"
expect 2 chunk "variants: chunk many\n$steps"
expect 2 chunk "variants: chunk plenty\n$steps"
expect 2 chunk "variants: chunk 7x\n$steps"
expect 2 room "variants: room whole\n$steps"
expect 2 room "variants: room byte\n$steps"
expect 2 comma "variants: a b,\n$steps"
expect 2 comma "variants: a b c\n$steps"
expect 2 comma "variants: a b,, c\n$steps"
expect 2 no_values "variants: a\n$steps"
expect 2 no_name "variants: \"a\" b\n$steps"
expect 2 twice "variants: a b, B\n$steps"
expect 2 repeat "repeat: 3 4\n$steps"
expect 2 repeat "repeat: 0\n$steps"
expect 2 repeat "repeat: 3x\n$steps"
expect 2 repeat "repeat:\n$steps"
expect 2 no_sentence "$steps\nthen"
expect 2 no_sentence "$steps\nand  "
expect 2 no_verb "$steps\nbut client is open"
expect 2 no_steps "repeat: 2"
expect 2 late_header "$steps\nrepeat: 2"
expect 2 late_given "$steps\ngiven a client"
expect 2 Capitals "$steps"
expect 2 with-hyphen "$steps"

echo "$passed passed, $failed failed"
[[ $failed == 0 ]]
