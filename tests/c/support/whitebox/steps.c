#include "steps.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* ThreadSanitizer keeps books of its own for signals, which cannot run behind every instruction. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)

enum { TRAP_FLAG = 0x100 }; /* in the processor's flags: a trap behind every instruction */

static void (*look)(void *context);
static void *context_of_look;
static volatile sig_atomic_t traps;

static void on_trap(int number) {
  (void)number;
  if (traps == 0) traps = 1;
  look(context_of_look);
}

static void nothing(void *context) {
  (void)context;
}

static __attribute__((noinline)) void step(void (*call)(void *context), void *context) {
  __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP_FLAG);
  call(context);
  __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(uint64_t)TRAP_FLAG);
}

bool steps_run(void (*call)(void *context), void (*between)(void *context), void *context) {
  struct sigaction action = {.sa_handler = on_trap}, before;
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGTRAP, &action, &before) != 0) return false;
  traps = 0;
  look = nothing;
  step(nothing, NULL);
  if (traps > 0) {
    look = between;
    context_of_look = context;
    step(call, context);
  }
  sigaction(SIGTRAP, &before, NULL);
  return traps > 0;
}

#else

bool steps_run(void (*call)(void *context), void (*between)(void *context), void *context) {
  (void)call, (void)between, (void)context;
  return false;
}

#endif
