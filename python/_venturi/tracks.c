/*
 * tracks.c - whose calls there are: the threads of a recording, or those that were counted in this
 * process.
 *
 * A thread is: what profile() and load() know it by, its tid, the number of its process (0 for this
 * one), its pid, its name and that of its process.
 */
#include "tracks.h"

#include "base/error.h"
#include "rows.h"
#include "snapshot.h"
#include "venturi/read.h"

#include <unistd.h>

/* Takes the reference of `item`, which may be NULL. False with an exception. */
static bool add(PyObject *list, PyObject *item)
{
    bool is_added = item && PyList_Append(list, item) == 0;

    Py_XDECREF(item);
    return is_added;
}

static bool add_live(PyObject *list, const struct vti_py_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->thread_count; i++) {
        const struct vt_call_thread *thread = &snapshot->threads[i];

        if (!add(list, Py_BuildValue("(IiIINs)", thread->thread, thread->tid, 0u,
                                     (unsigned)getpid(), vti_py_text(thread->name), "")))
            return false;
    }
    return true;
}

static bool add_recorded(PyObject *list, const vt_recording *recording)
{
    struct vt_track_info track;

    for (uint32_t at = 0; vt_recording_track(recording, at, &track); at++) {
        struct vt_process_info process;

        vt_recording_process_by_id(recording, track.process, &process);
        if (!add(list, Py_BuildValue("(IIIINN)", track.id, track.tid, process.id, process.pid,
                                     vti_py_text(track.name), vti_py_text(process.name))))
            return false;
    }
    return true;
}

PyObject *vti_py_tracks(PyObject *source)
{
    PyObject *list = PyList_New(0);
    PyObject *path = NULL;
    vt_recording *recording = NULL;
    bool is_whole = false;
    int code;

    if (!list)
        return NULL;
    if (Py_IS_TYPE(source, &vti_py_snapshot_type)) {
        is_whole = add_live(list, (const struct vti_py_snapshot *)source);
    } else if (PyUnicode_FSConverter(source, &path)) {
        code = vt_recording_open(&recording, PyBytes_AS_STRING(path));
        if (code)
            vti_py_raise(code);
        else
            is_whole = add_recorded(list, recording);
        vt_recording_close(recording);
    }
    Py_XDECREF(path);
    if (!is_whole)
        Py_CLEAR(list);
    return list;
}
