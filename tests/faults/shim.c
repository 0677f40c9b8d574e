// Counts the system calls by which the processes of a study change files below a folder, and makes the one with a given
// number fail, stop or kill its process. Loaded before a program by LD_PRELOAD; tests/faults/faults.py sets the
// environment:
//   FAULTS_UNDER    the folder
//   FAULTS_COUNTER  a file of 32 bytes that all processes share: how many calls there were, what memory.c counts, the
//                   process of the latest rank but the first, and how many faults happened, not counting what lasts
//   FAULTS_LOG      every call is added to this file with what it wrote, so that a crash of the machine can be played
//   FAULTS_AT       the numbers of the calls that meet with a fault, from 1, with commas between them
//   FAULTS_WHAT     for each of them kill, torn (half of a write, then killed), rank (the other rank is killed, or this
//                   process where there is none), stop, terminate (asked to end), short (half of a write), or the number
//                   of an error
//   FAULTS_LASTING  1: every later call of a kind that the first error can have fails with it, too
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CREATE = 1, WRITE, SYNC, RENAME, EXCHANGE, UNLINK, MKDIR, RMDIR, LINK, TRUNCATE };
enum { KILL = -1, TORN = -2, STOP = -3, SHORT = -4, TERMINATE = -5, RANK = -6 };
enum { MOST_FAULTS = 64 };

static char under[PATH_MAX];
static size_t under_length;
static _Atomic uint64_t* counter;
static _Atomic uint64_t *other_rank, *happened;
static struct { uint64_t at; long what; } faults[MOST_FAULTS];
static int fault_count, fault_lasting;
static char log_path[PATH_MAX];

struct record {
  uint64_t number;
  uint32_t operation, length;  // of what follows: two paths that end with a zero byte, and bytes
  uint64_t offset;
};

static long what_of(const char* name) {
  static const struct { const char* name; long what; } known[] = {
      {"kill", KILL}, {"torn", TORN}, {"stop", STOP}, {"short", SHORT}, {"terminate", TERMINATE}, {"rank", RANK}};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (strcmp(name, known[i].name) == 0) return known[i].what;
  return strtol(name, NULL, 10);
}

static void read_faults(const char* at, const char* what) {
  char* names = strdup(what);
  char *rest = names, *name;
  while (fault_count < MOST_FAULTS && (name = strsep(&rest, ",")) != NULL) {
    char* end;
    faults[fault_count].at = strtoull(at, &end, 10);
    faults[fault_count++].what = what_of(name);
    at = *end == ',' ? end + 1 : end;
  }
  free(names);
}

void faults_clock_begin(void);  // of clock.c

/// Also called where the environment is set later (server.c).
__attribute__((constructor)) void faults_begin(void) {
  faults_clock_begin();
  const char* folder = getenv("FAULTS_UNDER");
  const char* shared = getenv("FAULTS_COUNTER");
  if (folder == NULL || shared == NULL) return;
  const int file = (int)syscall(SYS_openat, AT_FDCWD, shared, O_RDWR | O_CLOEXEC, 0);
  if (file < 0) return;
  _Atomic uint64_t* memory = mmap(NULL, 4 * sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  syscall(SYS_close, file);
  if (memory == MAP_FAILED) return;
  const char *at = getenv("FAULTS_AT"), *what = getenv("FAULTS_WHAT");
  const char *lasting = getenv("FAULTS_LASTING"), *log = getenv("FAULTS_LOG");
  if (at != NULL && what != NULL) read_faults(at, what);
  fault_lasting = lasting != NULL && *lasting == '1';
  if (log != NULL) snprintf(log_path, sizeof log_path, "%s", log);
  snprintf(under, sizeof under, "%s", folder);
  under_length = strlen(under);
  counter = memory;
  other_rank = memory + 2;
  happened = memory + 3;
  if (getenv("RANK") != NULL) *other_rank = (uint64_t)getpid();
}

/// Whether an absolute path lies below the folder.
static int is_below(const char* path) {
  return counter != NULL && strncmp(path, under, under_length) == 0 &&
         (path[under_length] == '/' || path[under_length] == 0);
}

/// The absolute path that `path` beside `folder` stands for, with its last part as it is.
static int absolute(int folder, const char* path, char* result) {
  char base[PATH_MAX] = "";
  if (path[0] != '/') {
    if (folder == AT_FDCWD) {
      if (syscall(SYS_getcwd, base, sizeof base) < 0) return 0;
    } else {
      char link[64];
      snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
      const ssize_t length = readlink(link, base, sizeof base - 1);
      if (length < 0) return 0;
      base[length] = 0;
    }
  }
  const int length = snprintf(result, PATH_MAX, "%s%s%s", base, base[0] ? "/" : "", path);
  for (char* part; (part = strstr(result, "/./")) != NULL;) memmove(part, part + 2, strlen(part + 2) + 1);
  size_t end = strlen(result);
  while (end > 1 && result[end - 1] == '/') result[--end] = 0;
  return length > 0 && length < PATH_MAX && is_below(result);
}

static int path_of(int file, char* result) {
  if (counter == NULL) return 0;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, result, PATH_MAX - 1);
  if (length < 0) return 0;
  result[length] = 0;
  return is_below(result);
}

static uint64_t next_number(void) { return atomic_fetch_add(counter, 1) + 1; }

/// The log, or -1 if there is none. Until it is closed no other call is counted: else two processes that make and remove
/// the same folder are written down in an order that no disk has seen.
static int begin_turn(void) {
  if (log_path[0] == 0) return -1;
  const int log = (int)syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (log >= 0) syscall(SYS_flock, log, LOCK_EX);
  return log;
}

static void end_turn(int log) {
  const int code = errno;
  if (log >= 0) syscall(SYS_close, log);
  errno = code;
}

static void log_call(int log, uint64_t number, int operation, const char* first, const char* second, struct iovec data,
                     uint64_t offset) {
  if (log < 0) return;
  const size_t one = strlen(first) + 1, two = strlen(second) + 1;
  struct record head = {number, (uint32_t)operation, (uint32_t)(one + two + data.iov_len), offset};
  struct iovec parts[] = {{&head, sizeof head}, {(void*)first, one}, {(void*)second, two}, data};
  syscall(SYS_writev, log, parts, 4);
}

/// Which errors a call can have.
static int can_fail(int operation, long code) {
  switch (code) {
    case ENOSPC:
    case EDQUOT:
      return operation != UNLINK && operation != RMDIR && operation != TRUNCATE;
    case EINTR:
      return operation == WRITE || operation == SYNC || operation == CREATE;
    case EROFS:
      return operation != WRITE && operation != SYNC;
    default:
      return 1;
  }
}

static long planned_for(uint64_t number, int operation) {
  const int lasts = fault_lasting && fault_count > 0 && number > faults[0].at && faults[0].what > 0;
  long what = lasts ? faults[0].what : 0;
  for (int i = 0; i < fault_count; ++i)
    if (faults[i].at == number) what = faults[i].what;
  if (what > 0 && !can_fail(operation, what)) return 0;
  if (what != 0 && !lasts) atomic_fetch_add(happened, 1);
  return what;
}

static void kill_other_rank(void) {
  const pid_t other = (pid_t)*other_rank;
  if (other == 0 || kill(other, SIGKILL) != 0) kill(getpid(), SIGKILL);
}

/// What the call with this number meets with: 0 (nothing), an error's number, SHORT or TORN. Does not return where
/// the process is killed.
static long fault_of(uint64_t number, int operation) {
  const long what = planned_for(number, operation);
  if (what > 0) return what;
  if (what == KILL || (what == TORN && operation != WRITE)) kill(getpid(), SIGKILL);
  if (what == RANK) kill_other_rank();
  if (what == STOP) kill(getpid(), SIGSTOP);
  if (what == TERMINATE) kill(getpid(), SIGTERM);
  return (what == TORN || what == SHORT) && operation == WRITE ? what : 0;
}

#define FAIL(code) do { errno = (int)(code); return -1; } while (0)
#define FAIL_TURN(log, code) do { end_turn(log); FAIL(code); } while (0)

/// A counted call that changes the folder, once `path` is known to lie below it and its turn has begun; -1 with errno where
/// it fails.
#define CHANGE(log, operation, first, second, offset, call)                                           \
  do {                                                                                                \
    const uint64_t number = next_number();                                                            \
    const long fault = fault_of(number, operation);                                                   \
    if (fault > 0) FAIL_TURN(log, fault);                                                             \
    const int result = (int)(call);                                                                   \
    if (result >= 0) log_call(log, number, operation, first, second, (struct iovec){NULL, 0}, offset); \
    end_turn(log);                                                                                    \
    return result;                                                                                    \
  } while (0)

// Calls on open files.

static uint64_t place_of(int file, off_t given) {
  if (given >= 0) return (uint64_t)given;
  struct stat status;
  if ((fcntl(file, F_GETFL) & O_APPEND) != 0 && fstat(file, &status) == 0) return (uint64_t)status.st_size;
  return (uint64_t)lseek(file, 0, SEEK_CUR);
}

/// `given` is negative where the file's own place counts.
static ssize_t write_bytes(int file, const void* bytes, size_t size, off_t given) {
  char path[PATH_MAX];
  const int number_of = given < 0 ? SYS_write : SYS_pwrite64;
  if (!path_of(file, path) || strstr(path, " (deleted)") != NULL)
    return syscall(number_of, file, bytes, size, given);
  const int log = begin_turn();
  const uint64_t number = next_number();
  const long fault = fault_of(number, WRITE);
  if (fault > 0) FAIL_TURN(log, fault);
  const uint64_t place = place_of(file, given);
  const size_t wanted = fault != 0 && size > 1 ? size / 2 : size;
  const ssize_t written = syscall(number_of, file, bytes, wanted, given);
  if (written > 0) log_call(log, number, WRITE, path, "", (struct iovec){(void*)bytes, (size_t)written}, place);
  if (fault == TORN) kill(getpid(), SIGKILL);
  end_turn(log);
  return written;
}

ssize_t write(int file, const void* bytes, size_t size) { return write_bytes(file, bytes, size, -1); }
ssize_t pwrite(int file, const void* bytes, size_t size, off_t place) { return write_bytes(file, bytes, size, place); }
ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t place) {
  return write_bytes(file, bytes, size, place);
}

ssize_t writev(int file, const struct iovec* parts, int count) {
  ssize_t total = 0;
  for (int i = 0; i < count; ++i) {
    const ssize_t written = write(file, parts[i].iov_base, parts[i].iov_len);
    if (written < 0) return total > 0 ? total : -1;
    total += written;
    if ((size_t)written < parts[i].iov_len) break;
  }
  return total;
}

static int sync_file(int file, int number_of) {
  char path[PATH_MAX];
  if (!path_of(file, path)) return (int)syscall(number_of, file);
  const int log = begin_turn();
  CHANGE(log, SYNC, path, "", 0, syscall(number_of, file));
}

int fsync(int file) { return sync_file(file, SYS_fsync); }
int fdatasync(int file) { return sync_file(file, SYS_fdatasync); }

int ftruncate(int file, off_t size) {
  char path[PATH_MAX];
  if (!path_of(file, path)) return (int)syscall(SYS_ftruncate, file, size);
  const int log = begin_turn();
  CHANGE(log, TRUNCATE, path, "", (uint64_t)size, syscall(SYS_ftruncate, file, size));
}
int ftruncate64(int file, off64_t size) { return ftruncate(file, size); }

// Calls on names.

static int open_at(int folder, const char* name, int flags, mode_t mode) {
  char path[PATH_MAX];
  struct stat status;
  if (!absolute(folder, name, path) || (flags & (O_CREAT | O_TRUNC)) == 0 || (flags & O_DIRECTORY) != 0)
    return (int)syscall(SYS_openat, folder, name, flags, mode);
  const int log = begin_turn();
  const int exists = fstatat(folder, name, &status, 0) == 0;
  if (exists && ((flags & O_TRUNC) == 0 || status.st_size == 0)) {
    end_turn(log);
    return (int)syscall(SYS_openat, folder, name, flags, mode);
  }
  CHANGE(log, exists ? TRUNCATE : CREATE, path, "", 0, syscall(SYS_openat, folder, name, flags, mode));
}

#define MODE(flags)                    \
  mode_t mode = 0;                     \
  if ((flags & O_CREAT) != 0) {        \
    va_list rest;                      \
    va_start(rest, flags);             \
    mode = va_arg(rest, mode_t);       \
    va_end(rest);                      \
  }
int open(const char* path, int flags, ...) { MODE(flags) return open_at(AT_FDCWD, path, flags, mode); }
int open64(const char* path, int flags, ...) { MODE(flags) return open_at(AT_FDCWD, path, flags, mode); }
int openat(int folder, const char* path, int flags, ...) { MODE(flags) return open_at(folder, path, flags, mode); }
int openat64(int folder, const char* path, int flags, ...) { MODE(flags) return open_at(folder, path, flags, mode); }
int creat(const char* path, mode_t mode) { return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

/// Streams open and write inside the C library, so they get their file from here; what they write at once is at
/// most a buffer, which stays uncounted unless it goes through write().
static FILE* open_stream(const char* path, const char* mode) {
  const int update = strchr(mode, '+') != NULL;
  int flags = mode[0] == 'r' ? (update ? O_RDWR : O_RDONLY) : (update ? O_RDWR : O_WRONLY) | O_CREAT;
  if (mode[0] == 'w') flags |= O_TRUNC;
  if (mode[0] == 'a') flags |= O_APPEND;
  if (strchr(mode, 'e') != NULL) flags |= O_CLOEXEC;
  if (strchr(mode, 'x') != NULL) flags |= O_EXCL;
  const int file = open_at(AT_FDCWD, path, flags, 0666);
  return file < 0 ? NULL : fdopen(file, mode);
}
FILE* fopen(const char* path, const char* mode) { return open_stream(path, mode); }
FILE* fopen64(const char* path, const char* mode) { return open_stream(path, mode); }

static int rename_at(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  char first[PATH_MAX], second[PATH_MAX];
  const int below = absolute(from_folder, from, first), both = absolute(to_folder, to, second) && below;
  if (!both) return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
  const int log = begin_turn();
  CHANGE(log, (flags & RENAME_EXCHANGE) != 0 ? EXCHANGE : RENAME, first, second, 0,
         syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}
int rename(const char* from, const char* to) { return rename_at(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int one, const char* from, int two, const char* to) { return rename_at(one, from, two, to, 0); }
int renameat2(int one, const char* from, int two, const char* to, unsigned flags) {
  return rename_at(one, from, two, to, flags);
}

static int unlink_at(int folder, const char* name, int flags) {
  char path[PATH_MAX];
  if (!absolute(folder, name, path)) return (int)syscall(SYS_unlinkat, folder, name, flags);
  const int log = begin_turn();
  CHANGE(log, (flags & AT_REMOVEDIR) != 0 ? RMDIR : UNLINK, path, "", 0, syscall(SYS_unlinkat, folder, name, flags));
}
int unlink(const char* path) { return unlink_at(AT_FDCWD, path, 0); }
int unlinkat(int folder, const char* path, int flags) { return unlink_at(folder, path, flags); }
int rmdir(const char* path) { return unlink_at(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char* path) {
  struct stat status;
  return unlink_at(AT_FDCWD, path, lstat(path, &status) == 0 && S_ISDIR(status.st_mode) ? AT_REMOVEDIR : 0);
}

int mkdirat(int folder, const char* name, mode_t mode) {
  char path[PATH_MAX];
  if (!absolute(folder, name, path)) return (int)syscall(SYS_mkdirat, folder, name, mode);
  struct stat status;
  const int log = begin_turn();
  if (fstatat(folder, name, &status, 0) == 0) FAIL_TURN(log, EEXIST);
  CHANGE(log, MKDIR, path, "", 0, syscall(SYS_mkdirat, folder, name, mode));
}
int mkdir(const char* path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  char first[PATH_MAX], second[PATH_MAX];
  const int below = absolute(from_folder, from, first), both = absolute(to_folder, to, second) && below;
  if (!both) return (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
  const int log = begin_turn();
  CHANGE(log, LINK, first, second, 0, syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}
int link(const char* from, const char* to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int truncate(const char* name, off_t size) {
  char path[PATH_MAX];
  if (!absolute(AT_FDCWD, name, path)) return (int)syscall(SYS_truncate, name, size);
  const int log = begin_turn();
  CHANGE(log, TRUNCATE, path, "", (uint64_t)size, syscall(SYS_truncate, name, size));
}
