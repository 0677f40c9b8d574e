// Part of the shim of shim.c: a clock on the wall that jumps. The one that only counts does not, as on a real machine; it
// may run faster, so that who waits for a time does not wait as long.
//
//   FAULTS_COUNTER  of shim.c, whose calls tell when
//   FAULTS_JUMP     by how many seconds, forward or back
//   FAULTS_FROM     the number of the call from which on the clock is wrong
//   FAULTS_UNTIL    the number of the call from which on it is right again
//   FAULTS_HASTE    how many times as fast the clock runs that only counts
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000000000 };  // in nanoseconds

static _Atomic uint64_t* calls;
static long jump, haste = 1;
static uint64_t from, until;

void faults_clock_begin(void) {
  if (getenv("FAULTS_HASTE") != NULL) haste = atol(getenv("FAULTS_HASTE"));
  const char *shared = getenv("FAULTS_COUNTER"), *by = getenv("FAULTS_JUMP");
  const char *first = getenv("FAULTS_FROM"), *last = getenv("FAULTS_UNTIL");
  if (shared == NULL || by == NULL || first == NULL || last == NULL) return;
  jump = atol(by);
  from = strtoull(first, NULL, 10);
  until = strtoull(last, NULL, 10);
  const int file = (int)syscall(SYS_openat, AT_FDCWD, shared, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return;
  void* memory = mmap(NULL, sizeof *calls, PROT_READ, MAP_SHARED, file, 0);
  syscall(SYS_close, file);
  if (memory != MAP_FAILED) calls = memory;
}

static void hasten(struct timespec* now) {
  const long fraction = now->tv_nsec * haste;
  *now = (struct timespec){now->tv_sec * haste + fraction / SECOND, fraction % SECOND};
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && clock == CLOCK_MONOTONIC) hasten(now);
  const int of_the_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (result == 0 && of_the_wall && calls != NULL && *calls >= from && *calls < until) now->tv_sec += jump;
  return result;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  (void)zone;
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  *now = (struct timeval){time.tv_sec, time.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* now) {
  struct timespec found;
  clock_gettime(CLOCK_REALTIME, &found);
  if (now != NULL) *now = found.tv_sec;
  return found.tv_sec;
}
