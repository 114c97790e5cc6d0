"""Runs the scenarios of tests/conformance from Python (README.md, section 9)."""
