#define _POSIX_C_SOURCE 200809L
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool store_open(store *s, const char *path, unsigned number) {
  *s = (store){.fd = STDOUT_FILENO, .direct = true};
  if (!path) return true;

  struct stat info;
  const bool exists = stat(path, &info) == 0;
  const int len = exists && S_ISDIR(info.st_mode) ? snprintf(s->name, sizeof s->name, "%s/client-%u", path, number)
                                                  : snprintf(s->name, sizeof s->name, "%s", path);
  s->fd = -1;
  if (len < 0 || (size_t)len >= sizeof s->name) {
    errno = ENAMETOOLONG;
    return false;
  }
  s->direct = exists && !S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode);
  snprintf(s->part, sizeof s->part, "%s.%ld-%u.part", s->name, (long)getpid(), number);
  s->fd =
      s->direct ? open(s->name, O_WRONLY | O_CLOEXEC) : open(s->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return s->fd >= 0;
}

bool store_write(store *s, const uint8_t *data, size_t len) {
  while (len > 0) {
    const ssize_t n = write(s->fd, data, len);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    data += n;
    len -= (size_t)n;
  }
  return true;
}

bool store_commit(store *s) {
  const int fd = s->fd;
  s->fd = -1;
  /* close tells of writes that failed late. */
  if (close(fd) != 0) return false;
  return s->direct || rename(s->part, s->name) == 0;
}

void store_discard(store *s) {
  if (s->fd < 0) return;
  close(s->fd);
  s->fd = -1;
  if (!s->direct) unlink(s->part);
}
