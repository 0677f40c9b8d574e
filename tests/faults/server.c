// Lets a program begin again and again without loading it each time: it is loaded up to main() once, and each command then
// has a process of its own, a copy of that one, and so have the processes that it starts of the same program. Loaded
// before the program by LD_PRELOAD; tests/faults/processes.py asks.
//
//   FAULTS_SAID    with the number of a process behind it, from 0, the file that holds what it says
//   FAULTS_ERRORS  of a request: standard error is the server's own, and not in that file
//   FAULTS_FOLDER  of a request: where its processes begin
//
// A request on standard input is three numbers of four bytes: how many processes are to begin at once, how many variables
// of the environment and how many bytes follow. Then come the variables and the arguments, each of which ends with a zero
// byte; a variable without a sign of equality is removed. The answer on standard output is the status that each process
// ended with, in four bytes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 64, MOST_FILES = 64 };

struct request {
  uint32_t processes, variables, size;
};

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

static void say_to(uint32_t number) {
  char said[PATH_MAX];
  snprintf(said, sizeof said, "%s%u", getenv("FAULTS_SAID"), number);
  const int input = open("/dev/null", O_RDONLY), output = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  if (getenv("FAULTS_ERRORS") == NULL) dup2(output, STDERR_FILENO);
  close(input);
  close(output);
}

/// What the process of one command does.
static void begin(struct request request, char* words, uint32_t number) {
  char* arguments[MOST_ARGUMENTS + 1] = {NULL};
  int count = 0;
  uint32_t variables = 0;
  for (char* word = words; word < words + request.size; word += strlen(word) + 1)
    if (variables < request.variables)
      ++variables, putenv(word);
    else if (count < MOST_ARGUMENTS)
      arguments[count++] = word;
    else
      abort();
  say_to(number);
  const char* folder = getenv("FAULTS_FOLDER");
  if (folder != NULL && chdir(folder) != 0) _exit(1);
  void (*shim)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "faults_begin");
  if (shim != NULL) shim();
  exit(real_main(count, arguments, environ));
}

/// Begins processes that wait for one another, and waits for their ends and those of whom they leave behind; whether that
/// succeeded.
static int answer(struct request request, char* words) {
  pid_t* children = calloc(request.processes, sizeof *children);
  int* statuses = calloc(request.processes, sizeof *statuses);
  int gate[2];
  if (children == NULL || statuses == NULL || pipe2(gate, O_CLOEXEC) != 0) return 0;
  for (uint32_t i = 0; i < request.processes; ++i) {
    if ((children[i] = fork()) < 0) return 0;
    if (children[i] != 0) continue;
    char none;
    close(gate[1]);
    if (read(gate[0], &none, 1) != 0) _exit(1);  // ends when nobody is left who might write
    close(gate[0]);
    begin(request, words, i);
  }
  close(gate[0]);
  close(gate[1]);
  for (uint32_t i = 0; i < request.processes; ++i) waitpid(children[i], &statuses[i], 0);
  while (waitpid(-1, NULL, 0) > 0) continue;
  const size_t size = request.processes * sizeof *statuses;
  const int sent = write(STDOUT_FILENO, statuses, size) == (ssize_t)size;
  free(children);
  free(statuses);
  return sent;
}

static int serve(int count, char** arguments, char** environment) {
  (void)count, (void)arguments, (void)environment;
  unsetenv("LD_PRELOAD");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  struct request request;
  while (read_all(&request, sizeof request)) {
    char* words = malloc(request.size);
    if (words == NULL || !read_all(words, request.size) || !answer(request, words)) return 1;
    free(words);
  }
  return 0;
}

/// A program that starts itself is not loaded, either. What it had open is closed as if it were.
int execve(const char* path, char* const arguments[], char* const environment[]) {
  if (real_main == NULL || strcmp(path, "/proc/self/exe") != 0)
    return (int)syscall(SYS_execve, path, arguments, environment);
  environ = (char**)environment;
  for (int file = STDERR_FILENO + 1; file < MOST_FILES; ++file)
    if ((fcntl(file, F_GETFD) & FD_CLOEXEC) != 0) close(file);
  int count = 0;
  while (arguments[count] != NULL) ++count;
  exit(real_main(count, (char**)arguments, environ));
  return -1;
}

int __libc_start_main(Main* main, int count, char** arguments, void (*init)(void), void (*fini)(void),
                      void (*loader)(void), void* stack) {
  int (*next)(Main*, int, char**, void (*)(void), void (*)(void), void (*)(void), void*) =
      dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = main;
  return next(serve, count, arguments, init, fini, loader, stack);
}
