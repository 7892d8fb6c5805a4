/* written.h - who has a file open for writing. */
#ifndef VENTURI_BASE_WRITTEN_H
#define VENTURI_BASE_WRITTEN_H

#include <stdbool.h>
#include <sys/types.h>

/* A file that nobody locks and that has not grown for so long has lost its writer, if nobody can be seen. */
#define VTI_WRITTEN_QUIET_NS 5000000000

/* Calls `each` with the path of each file that a process has open for writing, until it says true. */
bool vti_written_each(pid_t pid, bool (*each)(const char *path, const void *arg), const void *arg);

bool vti_written_by(pid_t pid, const char *path);

/* 0: nobody that can be seen; !*is_sure: and processes of the file's owner keep their descriptors from us. */
pid_t vti_written_by_whom(const char *path, bool *is_sure);

#endif
