//! Empty: this crate exists to pin and build `boring-sys`, whose static libraries are exported.
