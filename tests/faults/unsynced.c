// A disk that writes at its leisure: tests that lose no power need not wait for it, some hundreds of times for each study.
// Loaded before a program by LD_PRELOAD.
int fsync(int file) {
  (void)file;
  return 0;
}
