"""Measures the cases of tests/performance from Python (README.md, section 6)."""
