"""Graphs that cases compute, and how pages are read."""
import operator
import os
import sys

sys.path.append(os.environ.get("PAGES", ""))


def tree(leaves=16):
    """Pairwise sums; the key that is wanted, and how many tasks there are."""
    dsk = {("leaf-0a1b2c3d", i): (operator.add, i, 1) for i in range(leaves)}
    row = list(dsk)
    level = 0
    while len(row) > 1:
        level += 1
        above = []
        for i in range(0, len(row), 2):
            key = ("pair-%d" % level, i // 2)
            dsk[key] = (operator.add, row[i], row[i + 1])
            above.append(key)
        row = above
    return dsk, row[0], 2 * leaves - 1


def fails():
    raise KeyError("no luck")


def page(path):
    from page_reader import Page

    with open(path, encoding="utf-8") as file:
        return Page(file.read())


def tasks_of(path):
    """Rows of the tasks of a page, with their names; not of what was done around them."""
    read = page(path)
    names = read.table("task_names").dicts()
    return [dict(row, name=names[row["name"]]["name"]) for row in read.table("tasks").dicts() if names[row["name"]]["action"] == 0]
