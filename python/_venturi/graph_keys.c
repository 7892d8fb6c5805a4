/*
 * graph_keys.c - see graph_keys.h. Open addressing; comparing may run Python code, so that nothing is held across it.
 */
#include "graph_keys.h"

/* 1: equal, 0: not, -1: an exception. */
static int is_same(const struct vti_py_keys *keys, uint32_t number, PyObject *key, Py_hash_t hash)
{
    const struct vti_py_key *known = &keys->keys[number];
    PyObject *other = known->key;
    int is_equal;

    if (other == key)
        return 1;
    if (known->hash != hash)
        return 0;
    if (PyUnicode_CheckExact(other) && PyUnicode_CheckExact(key))
        return PyUnicode_Compare(other, key) == 0;
    Py_INCREF(other);
    is_equal = PyObject_RichCompareBool(other, key, Py_EQ);
    Py_DECREF(other);
    return is_equal;
}

static uint32_t place_of(const struct vti_py_keys *keys, Py_hash_t hash)
{
    uint64_t mixed = (uint64_t)hash * 0x9E3779B97F4A7C15u;

    return (uint32_t)(mixed >> 32) & keys->slot_mask;
}

/* The slot of a key or the free one where it belongs. -1 with an exception. */
static int64_t find_slot(const struct vti_py_keys *keys, PyObject *key, Py_hash_t hash)
{
    uint32_t place = place_of(keys, hash);

    while (keys->slots[place]) {
        int is_equal = is_same(keys, keys->slots[place] - 1, key, hash);

        if (is_equal < 0)
            return -1;
        if (is_equal)
            break;
        place = (place + 1) & keys->slot_mask;
    }
    return place;
}

static int grow(struct vti_py_keys *keys)
{
    uint32_t room = keys->room ? keys->room * 2 : 64;
    struct vti_py_key *more;
    uint32_t *slots;

    if (room > (UINT32_MAX >> 3)) {
        PyErr_SetString(PyExc_OverflowError, "the graph has too many keys");
        return -1;
    }
    more = PyMem_RawRealloc(keys->keys, room * sizeof *more);
    if (more)
        keys->keys = more;
    slots = more ? PyMem_RawCalloc((size_t)room * 2, sizeof *slots) : NULL;
    if (!slots) {
        PyErr_NoMemory();
        return -1;
    }
    PyMem_RawFree(keys->slots);
    keys->slots = slots;
    keys->slot_mask = room * 2 - 1;
    keys->room = room;
    for (uint32_t i = 0; i < keys->count; i++) {
        uint32_t place = place_of(keys, keys->keys[i].hash);

        while (slots[place])
            place = (place + 1) & keys->slot_mask;
        slots[place] = i + 1;
    }
    return 0;
}

uint32_t vti_py_keys_add(struct vti_py_keys *keys, PyObject *key)
{
    Py_hash_t hash = PyObject_Hash(key);
    int64_t place;

    if (hash == -1 || (keys->count == keys->room && grow(keys)))
        return VTI_PY_NO_KEY;
    place = find_slot(keys, key, hash);
    if (place < 0)
        return VTI_PY_NO_KEY;
    if (!keys->slots[place]) {
        keys->keys[keys->count].key = Py_NewRef(key);
        keys->keys[keys->count].hash = hash;
        keys->slots[place] = ++keys->count;
    }
    return keys->slots[place] - 1;
}

uint32_t vti_py_keys_find(const struct vti_py_keys *keys, PyObject *key)
{
    Py_hash_t hash = PyObject_Hash(key);
    int64_t place;

    if (hash == -1 || !keys->count)
        return VTI_PY_NO_KEY;
    place = find_slot(keys, key, hash);
    return place < 0 || !keys->slots[place] ? VTI_PY_NO_KEY : keys->slots[place] - 1;
}

int vti_py_keys_copy(struct vti_py_keys *to, const struct vti_py_keys *from)
{
    size_t slots = from->room ? (size_t)from->slot_mask + 1 : 0;
    struct vti_py_keys copy = *from;

    copy.keys = PyMem_RawMalloc(from->room * sizeof *copy.keys);
    copy.slots = PyMem_RawMalloc(slots * sizeof *copy.slots);
    if (!copy.keys || !copy.slots) {
        PyMem_RawFree(copy.keys);
        PyMem_RawFree(copy.slots);
        return -1;
    }
    if (from->room) {
        memcpy(copy.keys, from->keys, from->count * sizeof *copy.keys);
        memcpy(copy.slots, from->slots, slots * sizeof *copy.slots);
    }
    for (uint32_t i = 0; i < copy.count; i++)
        Py_INCREF(copy.keys[i].key);
    *to = copy;
    return 0;
}

void vti_py_keys_fini(struct vti_py_keys *keys)
{
    struct vti_py_keys old = *keys;

    *keys = (struct vti_py_keys){0};
    for (uint32_t i = 0; i < old.count; i++)
        Py_DECREF(old.keys[i].key);
    PyMem_RawFree(old.keys);
    PyMem_RawFree(old.slots);
}
