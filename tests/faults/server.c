// Lets a program begin again and again without loading it each time: it is loaded up to main() once, and each command then
// has a process of its own, a copy of that one. Loaded before the program by LD_PRELOAD; tests/faults/server.py asks.
//
//   FAULTS_SAID  the file that holds what a command says
//
// A request on standard input is a number of four bytes and as many bytes: the arguments, each of which ends with a zero
// byte. The answer on standard output is the status that the process ended with, in four bytes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 64 };

typedef int Main(int, char**, char**);
static Main* real_main;

static int read_all(void* bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t got = read(STDIN_FILENO, (char*)bytes + done, size - done);
    if (got <= 0) return 0;
    done += (size_t)got;
  }
  return 1;
}

/// What the process of one command does; gives its exit code.
static int begin(char* words, const char* end, const char* said, char** environment) {
  const int input = open("/dev/null", O_RDONLY), output = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  close(input);
  close(output);
  char* arguments[MOST_ARGUMENTS + 1] = {NULL};
  int count = 0;
  for (char* word = words; word < end && count < MOST_ARGUMENTS; word += strlen(word) + 1) arguments[count++] = word;
  return real_main(count, arguments, environment);
}

/// Ends a process without the destructors of static objects, which take longer than most commands.
static void leave(int code) {
  fflush(NULL);
  _exit(code);
}

static int serve(int count, char** arguments, char** environment) {
  (void)count, (void)arguments;
  const char* said = getenv("FAULTS_SAID");
  unsetenv("LD_PRELOAD");
  uint32_t size;
  while (read_all(&size, sizeof size)) {
    char* words = malloc(size);
    if (words == NULL || !read_all(words, size)) return 1;
    const pid_t child = fork();
    if (child == 0) leave(begin(words, words + size, said, environment));
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) < 0) return 1;
    free(words);
    if (write(STDOUT_FILENO, &status, sizeof status) != sizeof status) return 1;
  }
  return 0;
}

int __libc_start_main(Main* main, int count, char** arguments, void (*init)(void), void (*fini)(void),
                      void (*loader)(void), void* stack) {
  int (*next)(Main*, int, char**, void (*)(void), void (*)(void), void (*)(void), void*) =
      dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = main;
  return next(serve, count, arguments, init, fini, loader, stack);
}
