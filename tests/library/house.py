#!/usr/bin/env python3
"""house.py CASE: the house rules that a reader of text can check. CONTRIBUTING.md lists them."""

import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
C_FILE = r"\.(c|cc|h)$"


def files(pattern=""):
    """Tracked files and new ones that are not ignored; in an unpacked archive all of them."""
    git = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    names = git.stdout.splitlines() if git.returncode == 0 else [
        str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.parts[len(ROOT.parts)] not in ("build", ".git")]
    return [name for name in names if re.search(pattern, name) and (ROOT / name).is_file()]


def lines(name):
    return (ROOT / name).read_text(errors="replace").splitlines()


def grep(pattern, names):
    return [f"{name}:{number}: {line.strip()}" for name in names for number, line in enumerate(lines(name), 1)
            if re.search(pattern, line)]


def openssl_only_in_tls():
    return grep(r"#\s*include\s*<openssl/", files(r"^(src/(?!tls/)|abi/|bindings/|examples/(?!c/key-signer\.c$))"))


def gss_only_in_negotiate():
    return grep(r"#\s*include\s*<(gssapi|krb5)|\bgss_\w+\(", files(r"^(src/(?!negotiate/)|abi/|examples/)"))


def files_have_at_most_400_lines():
    code = files(r"^(src|tests|examples|bindings|script)/.*\.(c|cc|h|go|py|pyi)$")
    generated = re.compile(r"^bindings/go/internal/raw/|_native\.pyi$")
    return [f"{name}: {count} lines" for name in code if not generated.search(name) and (count := len(lines(name))) > 400]


def functions_have_at_most_60_lines():
    """In formatted code a function begins at the last line that starts in column 0 and ends at the next lone brace."""
    found = []
    for name in files(rf"^(src|tests|examples|bindings/python)/.*{C_FILE}"):
        start = first = None
        for number, line in enumerate(lines(name), 1):
            if line == "}" and start and number - start + 1 > 60:
                found.append(f"{name}:{start}: {number - start + 1} lines: {first}")
            if re.match(r"[A-Za-z_]", line):
                start, first = number, line
    return found


def errors_are_made_in_one_place():
    return grep(r"\breturn\s+\(?SST_ERR_", files(rf"^src/(?!error\.c$).*{C_FILE}"))


def no_left_over_markers():
    names = files(r"^(abi|src|bindings|tests|examples|cmake|script|bench|fuzz|docs)/.*(?<!\.png)$")
    return grep(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b", names)


def no_machine_paths():
    folders = "|".join(["ro" "ot", "ho" "me", "wo" "rk", "Us" "ers"])
    return grep(rf"(^|[^\w.$}}\])/-])/({folders})/", files(r"(?<!\.lock)$"))


def file_names_are_unique():
    by_name = collections.defaultdict(list)
    for name in files(rf"^src/.*{C_FILE}"):
        by_name[pathlib.PurePath(name).name].append(name)
    return [" and ".join(names) for names in by_name.values() if len(names) > 1]


CASES = {case.__name__: case for case in (
    openssl_only_in_tls, gss_only_in_negotiate, files_have_at_most_400_lines, functions_have_at_most_60_lines,
    errors_are_made_in_one_place, no_left_over_markers, no_machine_paths, file_names_are_unique)}
if not files():
    sys.exit("no files found: nothing was checked")
faults = CASES[sys.argv[1]]()
print("\n".join(faults))
sys.exit(1 if faults else 0)
