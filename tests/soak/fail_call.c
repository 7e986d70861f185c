/* Lets a call on files of one folder fail. LD_PRELOAD it into the program; tests/soak/faults.py does.
 *
 * CORUN_FAULT_FOLDER  calls count that name a file in this folder (absolute path), or use a descriptor of one
 * CORUN_FAULT_KIND    none: nothing fails, calls are counted
 *                     eio: call number CORUN_FAULT_AT fails with EIO, once (a bad block)
 *                     full: from call number CORUN_FAULT_AT on, of those that need space, all of these fail with
 *                     ENOSPC (a full disk stays full); the first, if it is a write, writes half of its bytes
 * CORUN_FAULT_AT      counted from 1, in each process
 * CORUN_FAULT_REPORT  at exit, this file, in another folder, gets two numbers: all calls, those that need space
 *
 * libstdc++ opens files by fopen64() and reads and writes them by read(), write() and writev(), so these calls
 * show all that a C++ program does to its files, except memory maps.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { KIND_NONE, KIND_EIO, KIND_FULL };

static enum kind kind;
static const char* folder;
static size_t folder_length;
static long fail_at;
static atomic_long calls, space_calls;

__attribute__((constructor)) static void begin(void) {
  const char* name = getenv("CORUN_FAULT_KIND");
  const char* at = getenv("CORUN_FAULT_AT");
  kind = name && !strcmp(name, "eio")    ? KIND_EIO
         : name && !strcmp(name, "full") ? KIND_FULL
                                         : KIND_NONE;
  fail_at = at ? atol(at) : 0;
  folder = getenv("CORUN_FAULT_FOLDER");
  folder_length = folder ? strlen(folder) : 0;
}

__attribute__((destructor)) static void end(void) {
  const char* report = getenv("CORUN_FAULT_REPORT");
  folder_length = 0; /* closing the report is no call of the program */
  if (!report) return;
  FILE* out = fopen(report, "w");
  if (!out) return;
  fprintf(out, "%ld %ld\n", (long)calls, (long)space_calls);
  fclose(out);
}

static int in_folder(const char* path) {
  return folder_length > 0 && !strncmp(path, folder, folder_length) &&
         (path[folder_length] == '/' || path[folder_length] == '\0');
}

static int names_file(const char* path) {
  char absolute[2 * PATH_MAX];
  if (!folder_length || !path) return 0;
  if (path[0] == '/') return in_folder(path);
  if (!getcwd(absolute, PATH_MAX)) return 0;
  const size_t end = strlen(absolute);
  snprintf(absolute + end, sizeof absolute - end, "/%s", path);
  return in_folder(absolute);
}

static int has_file(int descriptor) {
  char link[64], path[PATH_MAX];
  if (!folder_length) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = '\0';
  return in_folder(path);
}

enum need { NO_SPACE, SPACE };
enum fault { PASS, FAIL, HALF };

/* Counts a call on a file of the folder; with FAIL, errno is set. */
static enum fault fault(int in, enum need need) {
  if (!in) return PASS;
  const long call = atomic_fetch_add(&calls, 1) + 1;
  const long space_call = need == SPACE ? atomic_fetch_add(&space_calls, 1) + 1 : 0;
  if (kind == KIND_EIO && call == fail_at) {
    errno = EIO;
    return FAIL;
  }
  if (kind == KIND_FULL && space_call >= fail_at && space_call > 0) {
    errno = ENOSPC;
    return space_call == fail_at ? HALF : FAIL;
  }
  return PASS;
}

/* The function of the C library of the same name. */
#define REAL(result, name, ...)       \
  static result (*real)(__VA_ARGS__); \
  if (!real) real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name);

static enum need need_of_open(int flags) {
  return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? SPACE : NO_SPACE;
}

static mode_t mode_of(int flags, va_list arguments) {
  return need_of_open(flags) == SPACE ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name)                                                       \
  int name(const char* path, int flags, ...) {                           \
    va_list arguments;                                                   \
    va_start(arguments, flags);                                          \
    const mode_t mode = mode_of(flags, arguments);                       \
    va_end(arguments);                                                   \
    REAL(int, name, const char*, int, ...)                               \
    if (fault(names_file(path), need_of_open(flags)) != PASS) return -1; \
    return real(path, flags, mode);                                      \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                      \
  int name(int directory, const char* path, int flags, ...) {                             \
    va_list arguments;                                                                    \
    va_start(arguments, flags);                                                           \
    const mode_t mode = mode_of(flags, arguments);                                        \
    va_end(arguments);                                                                    \
    REAL(int, name, int, const char*, int, ...)                                           \
    const int in =                                                                        \
        directory == AT_FDCWD || path[0] == '/' ? names_file(path) : has_file(directory); \
    if (fault(in, need_of_open(flags)) != PASS) return -1;                                \
    return real(directory, path, flags, mode);                                            \
  }
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name)                                                                           \
  FILE* name(const char* path, const char* mode) {                                            \
    REAL(FILE*, name, const char*, const char*)                                               \
    if (fault(names_file(path), strpbrk(mode, "wa") ? SPACE : NO_SPACE) != PASS) return NULL; \
    return real(path, mode);                                                                  \
  }
FOPEN(fopen)
FOPEN(fopen64)

int creat(const char* path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

ssize_t write(int file, const void* bytes, size_t count) {
  REAL(ssize_t, write, int, const void*, size_t)
  const enum fault found = fault(has_file(file), SPACE);
  if (found == FAIL || (found == HALF && count < 2)) return -1;
  return real(file, bytes, found == HALF ? count / 2 : count);
}

ssize_t writev(int file, const struct iovec* pieces, int count) {
  REAL(ssize_t, writev, int, const struct iovec*, int)
  const enum fault found = fault(has_file(file), SPACE);
  if (found == FAIL || (found == HALF && count < 2)) return -1;
  return real(file, pieces, found == HALF ? count / 2 : count);
}

#define PWRITE(name, offset_type)                                               \
  ssize_t name(int file, const void* bytes, size_t count, offset_type offset) { \
    REAL(ssize_t, name, int, const void*, size_t, offset_type)                  \
    const enum fault found = fault(has_file(file), SPACE);                      \
    if (found == FAIL || (found == HALF && count < 2)) return -1;               \
    return real(file, bytes, found == HALF ? count / 2 : count, offset);        \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t sendfile(int out, int in, off_t* offset, size_t count) {
  REAL(ssize_t, sendfile, int, int, off_t*, size_t)
  if (fault(has_file(out), SPACE) != PASS) return -1;
  return real(out, in, offset, count);
}

ssize_t copy_file_range(int in, off64_t* from, int out, off64_t* to, size_t count, unsigned flags) {
  REAL(ssize_t, copy_file_range, int, off64_t*, int, off64_t*, size_t, unsigned)
  if (fault(has_file(out), SPACE) != PASS) return -1;
  return real(in, from, out, to, count, flags);
}

/* FAILS(result, name, whether a file of the folder is meant, need, parameters, arguments) */
#define FAILS(result, failed, name, in, need, parameters, ...)       \
  result name parameters {                                           \
    static result(*real) parameters;                                 \
    if (!real) real = (result(*) parameters)dlsym(RTLD_NEXT, #name); \
    if (fault(in, need) != PASS) return failed;                      \
    return real(__VA_ARGS__);                                        \
  }
FAILS(ssize_t, -1, read, has_file(f), NO_SPACE, (int f, void* b, size_t n), f, b, n)
FAILS(ssize_t, -1, readv, has_file(f), NO_SPACE, (int f, const struct iovec* p, int n), f, p, n)
FAILS(ssize_t, -1, pread, has_file(f), NO_SPACE, (int f, void* b, size_t n, off_t o), f, b, n, o)
FAILS(ssize_t, -1, pread64, has_file(f), NO_SPACE, (int f, void* b, size_t n, off64_t o), f, b, n,
      o)
FAILS(int, -1, fsync, has_file(f), SPACE, (int f), f)
FAILS(int, -1, fdatasync, has_file(f), SPACE, (int f), f)
FAILS(int, -1, ftruncate, has_file(f), NO_SPACE, (int f, off_t n), f, n)
FAILS(int, -1, ftruncate64, has_file(f), NO_SPACE, (int f, off64_t n), f, n)
FAILS(int, -1, flock, has_file(f), NO_SPACE, (int f, int o), f, o)
FAILS(int, -1, rename, names_file(b), SPACE, (const char* a, const char* b), a, b)
FAILS(int, -1, renameat, names_file(b), SPACE, (int x, const char* a, int y, const char* b), x, a,
      y, b)
FAILS(int, -1, renameat2, names_file(b), SPACE,
      (int x, const char* a, int y, const char* b, unsigned f), x, a, y, b, f)
FAILS(int, -1, link, names_file(b), SPACE, (const char* a, const char* b), a, b)
FAILS(int, -1, linkat, names_file(b), SPACE, (int x, const char* a, int y, const char* b, int f), x,
      a, y, b, f)
FAILS(int, -1, symlink, names_file(b), SPACE, (const char* a, const char* b), a, b)
FAILS(int, -1, mkdir, names_file(p), SPACE, (const char* p, mode_t m), p, m)
FAILS(char*, NULL, mkdtemp, names_file(p), SPACE, (char* p), p)
FAILS(int, -1, unlink, names_file(p), NO_SPACE, (const char* p), p)
FAILS(int, -1, unlinkat, d == AT_FDCWD ? names_file(p) : has_file(d), NO_SPACE,
      (int d, const char* p, int f), d, p, f)
FAILS(int, -1, remove, names_file(p), NO_SPACE, (const char* p), p)
FAILS(int, -1, rmdir, names_file(p), NO_SPACE, (const char* p), p)
FAILS(DIR*, NULL, opendir, names_file(p), NO_SPACE, (const char* p), p)

/* A failed close() has closed the descriptor nevertheless. */
int close(int file) {
  REAL(int, close, int)
  const enum fault found = fault(has_file(file), SPACE);
  const int error = errno;
  const int closed = real(file);
  if (found == PASS) return closed;
  errno = error;
  return -1;
}

int fclose(FILE* stream) {
  REAL(int, fclose, FILE*)
  const enum fault found = fault(has_file(fileno(stream)), SPACE);
  const int error = errno;
  const int closed = real(stream);
  if (found == PASS) return closed;
  errno = error;
  return EOF;
}

int fcntl(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  REAL(int, fcntl, int, int, ...)
  const int locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK ||
                    command == F_OFD_SETLKW;
  if (fault(locks && has_file(file), NO_SPACE) != PASS) return -1;
  return real(file, command, argument);
}
