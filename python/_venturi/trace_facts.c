/*
 * trace_facts.c - what a program says of its spans, as facts of a recording: dicts in dicts become names with dots.
 *
 * Bounded: so many facts, so deep, texts so long; the rest is left out. Names are kept for good.
 */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 16384, DEPTH_MAX = 8, TEXT_BYTES_MAX = 2048 };
enum { TYPE_SPAN = 0, TYPE_KEY = 3 };

static PyObject *names[TYPE_KEY + 1]; /* name -> address of its site */
static struct vt_site more_names = {"(more names)", "", "", "", 0, TYPE_SPAN, 0, 0};
static struct vt_site more_keys = {"(more keys)", "", "", "", 0, TYPE_KEY, 0, 0};

/* What the program has said of itself: texts or NULL. */
static const char *const service_keys[] = {"project", "service", "host"};
static PyObject *service[3];

int vti_py_facts_init(void)
{
    for (int type = TYPE_SPAN; type <= TYPE_KEY; type += TYPE_KEY)
        if (!names[type] && !(names[type] = PyDict_New()))
            return -1;
    return 0;
}

/* UTF-8 of a text; lone surrogates are escaped. *kept is the object that it lies in. */
static const char *utf8(PyObject *text, size_t *len, PyObject **kept)
{
    Py_ssize_t size = 0;
    const char *data = PyUnicode_AsUTF8AndSize(text, &size);

    if (data) {
        *kept = Py_NewRef(text);
    } else {
        PyErr_Clear();
        *kept = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
        if (!*kept)
            return NULL;
        data = PyBytes_AS_STRING(*kept);
        size = PyBytes_GET_SIZE(*kept);
    }
    if (size > TEXT_BYTES_MAX)
        for (size = TEXT_BYTES_MAX; size && ((unsigned char)data[size] & 0xc0) == 0x80;)
            size--;
    *len = (size_t)size;
    return data;
}

static struct vt_site *new_site(PyObject *name, uint32_t type)
{
    struct vt_site *site = NULL;
    PyObject *kept = NULL;
    PyObject *address = NULL;
    size_t len;
    const char *data = utf8(name, &len, &kept);
    char *copy = data ? malloc(len + 1) : NULL;

    site = copy ? malloc(sizeof *site) : NULL;
    if (!site)
        goto out;
    memcpy(copy, data, len);
    copy[len] = 0;
    *site = (struct vt_site){copy, "", "", "", 0, type, 0, 0};
    address = PyLong_FromVoidPtr(site);
    if (!address || PyDict_SetItem(names[type], name, address)) {
        free(site);
        site = NULL;
    }
out:
    if (!site) {
        free(copy);
        vti_py_trace_forgive();
    }
    Py_XDECREF(address);
    Py_XDECREF(kept);
    return site;
}

struct vt_site *vti_py_trace_site(PyObject *name, uint32_t type)
{
    PyObject *address;

    if (!PyUnicode_CheckExact(name)) {
        struct vt_site *site;

        name = PyUnicode_FromObject(name);
        if (!name) {
            vti_py_trace_forgive();
            return NULL;
        }
        site = vti_py_trace_site(name, type);
        Py_DECREF(name);
        return site;
    }
    address = PyDict_GetItemWithError(names[type], name);
    if (address)
        return PyLong_AsVoidPtr(address);
    if (PyDict_GET_SIZE(names[type]) >= NAMES_MAX)
        return type == TYPE_KEY ? &more_keys : &more_names;
    return new_site(name, type);
}

/* Takes the reference to `text` over. */
static void add_text(struct vti_py_facts *facts, struct vt_site *key, PyObject *text)
{
    struct vt_trace_fact *fact = &facts->list[facts->count];
    PyObject *kept = NULL;
    size_t len = 0;
    const char *data = text && key ? utf8(text, &len, &kept) : NULL;

    Py_XDECREF(text);
    if (!data) {
        vti_py_trace_forgive();
        return;
    }
    fact->key = key;
    fact->type = VT_FACT_TEXT;
    fact->value.text.data = data;
    fact->value.text.len = len;
    facts->kept[facts->kept_count++] = kept;
    facts->count++;
}

static void add_value(struct vti_py_facts *facts, struct vt_site *key, PyObject *value)
{
    struct vt_trace_fact *fact = &facts->list[facts->count];
    int is_over = 0;
    long long number = PyLong_CheckExact(value) ? PyLong_AsLongLongAndOverflow(value, &is_over) : 0;

    if (PyLong_CheckExact(value) && !is_over) {
        fact->type = VT_FACT_INT;
        fact->value.i = number;
    } else if (PyFloat_CheckExact(value)) {
        fact->type = VT_FACT_DOUBLE;
        fact->value.d = PyFloat_AS_DOUBLE(value);
    } else if (value == Py_None || value == Py_True || value == Py_False) {
        add_text(facts, key,
                 PyUnicode_FromString(value == Py_None   ? "null"
                                      : value == Py_True ? "true"
                                                         : "false"));
        return;
    } else {
        add_text(facts, key, vti_py_text_of(value, false));
        return;
    }
    fact->key = key;
    facts->count++;
}

/* The name of what stands in a dict in a dict. A new reference; NULL without an exception if there is none. */
static PyObject *dotted(PyObject *prefix, PyObject *key)
{
    PyObject *text = PyUnicode_CheckExact(key) ? Py_NewRef(key) : vti_py_text_of(key, false);
    PyObject *name = text;

    if (prefix) {
        name = PyUnicode_FromFormat("%U.%U", prefix, text);
        Py_DECREF(text);
        if (!name)
            vti_py_trace_forgive();
    }
    return name;
}

/* The dict is a copy of ours: what the program's __str__ does to its own does not matter. */
static void add_dict(struct vti_py_facts *facts, PyObject *prefix, PyObject *dict, int depth)
{
    PyObject *copy = PyDict_Copy(dict);
    PyObject *key;
    PyObject *value;
    Py_ssize_t at = 0;

    if (!copy) {
        vti_py_trace_forgive();
        return;
    }
    while (facts->count < VTI_PY_FACTS_MAX && PyDict_Next(copy, &at, &key, &value)) {
        PyObject *name = dotted(prefix, key);

        if (name && PyDict_Check(value) && depth < DEPTH_MAX)
            add_dict(facts, name, value, depth + 1);
        else if (name)
            add_value(facts, vti_py_trace_site(name, TYPE_KEY), value);
        Py_XDECREF(name);
    }
    Py_DECREF(copy);
}

void vti_py_facts_add(struct vti_py_facts *facts, PyObject *info)
{
    add_dict(facts, NULL, info, 0);
}

void vti_py_facts_drop(struct vti_py_facts *facts)
{
    while (facts->kept_count)
        Py_DECREF(facts->kept[--facts->kept_count]);
}

void vti_py_facts_add_service(struct vti_py_facts *facts)
{
    for (int i = 0; i < 3 && facts->count < VTI_PY_FACTS_MAX; i++) {
        PyObject *key = service[i] ? PyUnicode_FromString(service_keys[i]) : NULL;

        if (key)
            add_text(facts, vti_py_trace_site(key, TYPE_KEY), Py_NewRef(service[i]));
        Py_XDECREF(key);
    }
}

/* C's trace points say the same. It keeps what it was told before: it is not told the same again. */
static void tell_c(void)
{
    const char *texts[3];

    for (int i = 0; i < 3; i++) {
        texts[i] = service[i] ? PyUnicode_AsUTF8(service[i]) : NULL;
        if (!texts[i])
            vti_py_trace_forgive();
    }
    vt_trace_service(texts[0], texts[1], texts[2]);
}

static bool is_same(PyObject *a, PyObject *b)
{
    return a == b || (a && b && PyUnicode_Compare(a, b) == 0);
}

PyObject *vti_py_service(PyObject *self, PyObject *args)
{
    PyObject *given[3];
    bool has_changed = false;

    (void)self;
    if (!PyArg_ParseTuple(args, "OOO:trace_service", &given[0], &given[1], &given[2]))
        return NULL;
    for (int i = 0; i < 3; i++) {
        PyObject *text = given[i] == Py_None ? NULL : PyObject_Str(given[i]);

        if (!text && given[i] != Py_None)
            return NULL;
        has_changed |= !is_same(service[i], text);
        Py_XSETREF(service[i], text);
    }
    if (has_changed)
        tell_c();
    Py_RETURN_NONE;
}
