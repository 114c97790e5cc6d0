//! The interposed allocator of `bench/c/heap.c`, where it is loaded.

use std::ffi::CStr;
use std::sync::OnceLock;

type Now = unsafe extern "C" fn(*mut u64, *mut i64);
type SetSide = unsafe extern "C" fn(i32);

fn find(name: &CStr) -> *mut libc::c_void {
    // SAFETY: the name is terminated.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

/// Calls so far, and live bytes of client, server and nobody.
pub fn now() -> (u64, [i64; 3]) {
    let function = find(c"bench_heap_now");
    assert!(!function.is_null(), "heap counts need LD_PRELOAD of libbench_heap.so");
    let (mut calls, mut bytes) = (0, [0; 3]);
    // SAFETY: heap.c defines it with this signature.
    unsafe { std::mem::transmute::<*mut libc::c_void, Now>(function)(&mut calls, bytes.as_mut_ptr()) };
    (calls, bytes)
}

/// Whose calls follow; 2: nobody's.
pub fn side(side: usize) {
    static FUNCTION: OnceLock<Option<SetSide>> = OnceLock::new();
    let function = FUNCTION.get_or_init(|| {
        let found = find(c"bench_heap_side");
        // SAFETY: heap.c defines it with this signature.
        (!found.is_null()).then(|| unsafe { std::mem::transmute::<*mut libc::c_void, SetSide>(found) })
    });
    if let Some(set) = function {
        // SAFETY: as above.
        unsafe { set(side as i32) };
    }
}
