/* What a sandbox holds while its pod lives; called with milliseconds, what a job of the tests does for so long. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void leave(int signal) {
  (void)signal;
  _exit(0);
}

static void reap(int signal) {
  (void)signal;
  while (waitpid(-1, NULL, WNOHANG) > 0) {
  }
}

int main(int count, char **words) {
  /* Process 1 has no default actions. */
  signal(SIGTERM, leave);
  signal(SIGINT, leave);
  signal(SIGCHLD, reap);
  if (count > 1) {
    long milliseconds = atol(words[1]);
    struct timespec left = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0) {
    }
    return 0;
  }
  for (;;) pause();
}
