// LD_PRELOAD: shifts CLOCK_REALTIME by the seconds (int64) in the file that CLOCK_SHIFT names.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *shift(void) {
  static const volatile int64_t *seconds;
  const char *path = getenv("CLOCK_SHIFT");
  if (!seconds && path) {
    int file = open(path, O_RDONLY);
    void *mapped = file < 0 ? MAP_FAILED : mmap(0, 8, PROT_READ, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    if (mapped != MAP_FAILED) seconds = mapped;
  }
  return seconds;
}

int clock_gettime(clockid_t id, struct timespec *now) {
  static int (*system_clock)(clockid_t, struct timespec *);
  if (!system_clock) system_clock = dlsym(RTLD_NEXT, "clock_gettime");
  int result = system_clock(id, now);
  const volatile int64_t *seconds = shift();
  if (result == 0 && seconds && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
    now->tv_sec += *seconds;
  return result;
}

time_t time(time_t *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return 0;
}
