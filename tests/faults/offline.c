// offline PROGRAM ARGUMENTS: runs a program that the kernel ends with SIGSYS as soon as it or a process that it starts asks
// for a socket, other than one between processes of this machine (AF_UNIX), or for io_uring, which could make one.
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))

#ifdef __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

int main(int count, char** arguments) {
  struct sock_filter filter[] = {
      LOAD(arch),           IF(ARCHITECTURE, 0, 6),  // a call of another architecture has other numbers
      LOAD(nr),             IF(SYS_io_uring_setup, 4, 0),
      IF(SYS_socket, 0, 2),  // what stands in the first argument, its lower half
      LOAD(args[0]),        IF(AF_UNIX, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (count < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    fprintf(stderr, "offline: %s\n", strerror(errno));
    return 126;
  }
  execv(arguments[1], arguments + 1);
  fprintf(stderr, "offline: %s: %s\n", arguments[1], strerror(errno));
  return 127;
}
