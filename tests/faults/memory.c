// Part of the shim of shim.c: lets the nth allocation of at least so many bytes fail, from the beginning of main() on.
//
//   FAULTS_COUNTER     of shim.c; its second number counts these allocations in all processes
//   FAULTS_LEAST       how many bytes; without it nothing is counted
//   FAULTS_ALLOCATION  the number of the allocation that fails, from 1
//   FAULTS_LASTING     1: every later one fails, too
//   FAULTS_TRACE       who asked for the first ones that fail is added to this file
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// glibc's own; to look its public ones up would allocate.
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* block, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);

enum { TRACED = 32 };

static _Atomic uint64_t* counter;  // NULL until main() begins
static size_t least;
static uint64_t fault_at;
static int lasting;

static void write_trace(void) {
  const char* path = getenv("FAULTS_TRACE");
  if (path == NULL) return;
  void* frames[48];
  const int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  backtrace_symbols_fd(frames, backtrace(frames, 48), file);
  syscall(SYS_close, file);
}

static int fails(size_t size) {
  if (counter == NULL || size < least) return 0;
  const uint64_t number = atomic_fetch_add(counter + 1, 1) + 1;
  if (fault_at == 0 || number < fault_at || (number > fault_at && !lasting)) return 0;
  if (number == fault_at) atomic_fetch_add(counter + 3, 1);
  if (number < fault_at + TRACED) write_trace();
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t size) { return fails(size) ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails(count * size) ? NULL : __libc_calloc(count, size); }
void* realloc(void* block, size_t size) { return fails(size) ? NULL : __libc_realloc(block, size); }
void* memalign(size_t alignment, size_t size) { return fails(size) ? NULL : __libc_memalign(alignment, size); }
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void** block, size_t alignment, size_t size) {
  void* found = memalign(alignment, size);
  if (found == NULL) return ENOMEM;
  *block = found;
  return 0;
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  if ((flags & MAP_ANONYMOUS) != 0 && fails(size)) return MAP_FAILED;
  return (void*)syscall(SYS_mmap, address, size, protection, flags, file, offset);
}
void* mmap64(void* address, size_t size, int protection, int flags, int file, off64_t offset) {
  return mmap(address, size, protection, flags, file, offset);
}

static uint64_t number_in(const char* name) {
  const char* text = getenv(name);
  return text == NULL ? 0 : strtoull(text, NULL, 10);
}

static void begin(void) {
  const char* shared = getenv("FAULTS_COUNTER");
  least = number_in("FAULTS_LEAST");
  if (shared == NULL || least == 0) return;
  fault_at = number_in("FAULTS_ALLOCATION");
  lasting = number_in("FAULTS_LASTING") == 1;
  void* frames[1];
  backtrace(frames, 1);  // loads what it needs
  const int file = (int)syscall(SYS_openat, AT_FDCWD, shared, O_RDWR | O_CLOEXEC, 0);
  if (file < 0) return;
  void* memory = mmap(NULL, 4 * sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  syscall(SYS_close, file);
  if (memory != MAP_FAILED) counter = memory;
}

typedef int Main(int, char**, char**);
static Main* real_main;

static int counted_main(int count, char** arguments, char** environment) {
  begin();
  return real_main(count, arguments, environment);
}

/// What allocates before main() is the loader and static objects of libraries, which nobody can catch.
int __libc_start_main(Main* main, int count, char** arguments, void (*init)(void), void (*fini)(void),
                      void (*loader)(void), void* stack) {
  int (*next)(Main*, int, char**, void (*)(void), void (*)(void), void (*)(void), void*) =
      dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = main;
  return next(counted_main, count, arguments, init, fini, loader, stack);
}
