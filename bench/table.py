"""The table of `make bench`: which figure stands beside which, and what it may cost."""

# What is compared: figure, its label; the figure beside it, that one's label, a factor for it (a lap reads the
# clock once, the floor twice); the budget: None, ("ratio", "<=", 1.10) or ("value", "<=", 3). A row whose
# figure was not measured is left out. To add one, print the figure in a program and name it here.
ROWS = [
    ("span", "span, begin + end", "floor", "floor", 1, ("ratio", "<=", 1.10)),
    ("span_2", "  two threads at once", "floor_2", "floor", 1, ("ratio", "<=", 1.10)),
    ("start_stop", "  VT_START, VT_STOP", "floor", "floor", 1, ("ratio", "<=", 1.10)),
    ("start_dynamic", "  name made at run time", "floor", "floor", 1, None),
    ("span_attr", "  with an integer attribute", "floor", "floor", 1.5, None),
    ("lap", "lap (one clock read)", "floor", "floor", 0.5, None),
    ("counter", "counter (one clock read)", "floor", "floor", 0.5, None),
    ("span_full", "span without any pause", "floor", "floor", 1, None),
    ("span_off", "span while nobody records", None, None, 1, ("value", "<=", 1)),
    ("start_stop_off", "  VT_START, VT_STOP", None, None, 1, ("value", "<=", 1)),
    ("counter_off", "  counter", None, None, 1, ("value", "<=", 1)),
    ("first_event", "first event of a thread", None, None, 1, ("value", "<=", 50)),
    ("first_event_again", "  of later threads", None, None, 1, ("value", "<=", 50)),
    ("trace", "trace point in C, with ids", "trace_floor", "floor", 1, ("value", "<=", 100)),
    ("trace_start", "  by hand, with a name", "trace_floor", "floor", 1, ("value", "<=", 100)),
    ("trace_unrecorded", "  in a trace, not recorded", None, None, 1, None),
    ("trace_off", "  in no trace, not recorded", None, None, 1, ("value", "<=", 1)),
    ("trace_id", "  a new id", None, None, 1, None),
    ("step", "message of a step", "step_floor", "floor", 1, ("value", "<=", 200)),
    ("step_extra", "  with three extra metrics", "step_floor", "floor", 1, ("value", "<=", 200)),
    ("step_all", "  and all phases", "step_floor", "floor", 1, ("value", "<=", 200)),
    ("step_full", "  no room: lost, counted", None, None, 1, ("value", "<=", 200)),
    ("step_off", "  not recorded", None, None, 1, None),
    ("steps 3.11, recorded", "  in Python 3.11", None, None, 1, ("value", "<=", 1000)),
    ("steps 3.11, recorded, extra", "    with two extra metrics", None, None, 1, ("value", "<=", 1000)),
    ("steps 3.13, recorded", "  in Python 3.13", None, None, 1, ("value", "<=", 1000)),
    ("steps 3.13, recorded, extra", "    with two extra metrics", None, None, 1, ("value", "<=", 1000)),
    ("ship", "ship, documents per CPU-second", None, None, 1, ("value", ">=", 150000)),
    ("ship_gzip", "  compressed", None, None, 1, ("value", ">=", 150000)),
    ("span", "span, against LTTng-UST", "lttng_pair", "LTTng", 1, None),
    ("span", "  against uftrace", "uftrace_instrument_call", "uftrace", 1, None),
    ("span", "  against uftrace, -pg", "uftrace_pg_call", "uftrace", 1, None),
    ("function_fib", "C function call, fib", "uftrace_function_fib", "uftrace", 1, ("ratio", "<=", 0.30)),
    ("function_call", "  empty function", "uftrace_function_call", "uftrace", 1, ("ratio", "<=", 0.30)),
    ("line_event", "line reached", "line_clock", "clock", 1, None),
    ("line_same", "  the same one again", "line_clock", "clock", 1, None),
    ("line_call", "  a call of one line", "line_clock", "clock", 2, None),
    ("bytes_any", "bytes per event", "lttng_bytes", "LTTng", 1, ("value", "<=", 3)),
    ("bytes_calls", "  names as in call trees", "uftrace_pg_bytes", "uftrace", 1, ("value", "<=", 3)),
    ("drainer", "drainer CPU per event", None, None, 1, None),
    ("drainer_full", "  at full speed", None, None, 1, None),
    ("resources_round", "resources, one round", None, None, 1, ("value", "<=", 40)),
    ("resources_process", "  each more process", None, None, 1, ("value", "<=", 10)),
    ("energy_open", "energy meter, opened", None, None, 1, ("value", "<=", 5000)),
    ("energy_open_estimate", "  without counters", None, None, 1, ("value", "<=", 5000)),
    ("energy_take", "  one reading", None, None, 1, ("value", "<=", 40)),
    ("energy_process", "  each more process", None, None, 1, ("value", "<=", 10)),
    ("tracker_venturi_empty", "EmissionsTracker, empty block", "tracker_codecarbon_empty", "codecarbon", 1, ("ratio", "<=", 0.3)),
    ("tracker_bare_empty", "  the same program without", "tracker_codecarbon_empty", "codecarbon", 1, None),
    ("tracker_venturi_memory", "  memory", "tracker_codecarbon_memory", "codecarbon", 1, None),
    ("tracker_venturi_start", "  made and started", "tracker_codecarbon_start", "codecarbon", 1, ("value", "<=", 5)),
    ("tracker_venturi_reading", "  one reading", "tracker_codecarbon_reading", "codecarbon", 1, ("value", "<=", 50)),
    ("tracker_venturi_plain", "  20 J, machine", "tracker_codecarbon_plain", "codecarbon", 1, None),
    ("tracker_venturi_idle", "  0 of 20 J, idle process", "tracker_codecarbon_idle", "codecarbon", 1, None),
    ("tracker_venturi_wrap", "  20 J, the counter wraps", "tracker_codecarbon_wrap", "codecarbon", 1, None),
    ("tracker_venturi_gap", "  20 J, it is away for 0.5 s", "tracker_codecarbon_gap", "codecarbon", 1, None),
    ("tracker_venturi_mirrored", "  20 J, two mirrored dies", "tracker_codecarbon_mirrored", "codecarbon", 1, None),
    ("tracker_venturi_dram", "  40 J, package and memory", "tracker_codecarbon_dram", "codecarbon", 1, None),
    ("tracker_venturi_children", "  2 s in ten short children", "tracker_codecarbon_children", "codecarbon", 1, None),
    ("open", "open, {spans} spans", None, None, 1, ("value", "<=", 10)),
    ("open_crashed", "  a file without its end", None, None, 1, ("value", "<=", 1)),
    ("see_crashed", "  … and its first window", None, None, 1, None),
    ("window_warm", "window of 2,000 pixels", None, None, 1, ("value", "<=", 1)),
    ("window_cold", "  seen for the first time", None, None, 1, None),
    ("first_picture", "  first picture of venturi serve", None, None, 1, ("value", "<=", 1)),
    ("stats", "statistics, per event", None, None, 1, None),
    ("page", "page of {spans} spans", None, None, 1, None),
    ("page_bytes", "  bytes per span", None, None, 1, ("value", "<=", 7)),
    ("page_open", "  opens in Chromium", None, None, 1, None),
    ("page_spans", "  … and its spans are drawn", None, None, 1, ("value", "<=", 1000)),
    ("page_longest", "  longest frame of a pan", None, None, 1, ("value", "<=", 100)),
    ("page_large", "  of {spans} spans", None, None, 1, None),
    ("page_large_open", "    opens in Chromium", None, None, 1, None),
    ("page_large_spans", "    … and its spans are drawn", None, None, 1, ("value", "<=", 8000)),
    ("page_large_longest", "    longest frame of a pan", None, None, 1, ("value", "<=", 100)),
    ("rank", "rank, lines per CPU-second", "rank_script", "script", 1, ("ratio", ">=", 10)),
    ("rank_wide", "  --wide", "rank_script", "script", 1, None),
    ("trace_json", "trace of {spans} spans, JSON", None, None, 1, ("value", "<=", 0.2)),
    ("trace_json_memory", "  memory", None, None, 1, ("value", "<=", 100)),
    ("trace_compat", "  as osprofiler's report", "trace_osprofiler", "its own", 1, ("value", "<=", 0.6)),
    ("stores_redis", "trace of 100,000 spans, Redis", None, None, 1, ("value", "<=", 1)),
    ("stores_redis_cpu", "  processor time", None, None, 1, None),
    ("stores_redis_memory", "  memory", None, None, 1, ("value", "<=", 100)),
    ("trace_compat_memory", "  … its memory", None, None, 1, ("value", "<=", 100)),
    ("startup", "venturi --version", "startup_true", "true", 1, ("value", "<=", 3)),
]

# Python functions, net cost of a call; the budgets are those of each version.
for version in ("3.9", "3.10", "3.11", "3.12", "3.13"):
    ours, peer = "python %s, venturi" % version, "python %s, cProfile" % version
    most = {"3.12": 0.33}.get(version, 0.25)
    exact = {"3.12": ("ratio", "<=", 0.62), "3.13": ("ratio", "<=", 0.46)}.get(version)
    ROWS += [
        (ours, "Python %s function, fib" % version, peer, "cProfile", 1, ("ratio", "<=", most)),
        (ours + ", builtins", "  with built-ins", peer, "cProfile", 1, exact),
        ("python %s, yappi" % version, "  yappi", peer, "cProfile", 1, None),
        ("python %s, viztracer" % version, "  viztracer", peer, "cProfile", 1, None),
        ("python %s, loop" % version, "  loop without calls", None, None, 1, ("value", "<=", 1.02)),
    ]

# Lines of Python functions, net cost of one; what is not profiled runs as without a tool.
for version in ("3.9", "3.10", "3.11", "3.12", "3.13"):
    most = {"3.11": 0.28, "3.12": 0.10, "3.13": 0.10}.get(version)
    budget = ("ratio", "<=", most) if most else None
    ROWS += [
        ("lines %s, venturi" % version, "Python %s line" % version, "lines %s, line_profiler 4" % version, "kernprof 4", 1,
         budget),
        ("lines %s, venturi" % version, "  beside line_profiler 5", "lines %s, line_profiler 5" % version, "kernprof 5", 1,
         budget),
        ("lines %s, plain" % version, "  code without @profile", None, None, 1, ("value", "<=", 1.05)),
        ("lines %s, callees" % version, "  callees of a profiled one", None, None, 1, ("value", "<=", 1.05)),
        ("lines %s, yields" % version, "  callees of a generator", None, None, 1, ("value", "<=", 1.05)),
    ]

# Trace points of Python, a pair of begin and end; on: recorded, with ids.
for version in ("3.9", "3.10", "3.11", "3.12", "3.13"):
    for state, most in (("on", 0.3), ("off", 0.05)):
        for form in ("start and stop", "with Trace", "decorator"):
            label = "  %s, %s" % (form, state) if form != "start and stop" or state == "off" else "Python %s trace point" % version
            ROWS.append(("points %s, venturi, %s, %s" % (version, state, form), label,
                         "points %s, osprofiler, %s, %s" % (version, state, form), "osprofiler", 1, ("value", "<=", most)))

# Tasks of Python through venturi.dask: the whole call beside dask's own schedulers, and the execution alone.
for version in ("3.9", "3.10", "3.11", "3.12", "3.13"):
    for shape in ("independent", "chain", "tree"):
        label = "  " + shape if shape != "independent" else "Python %s task, independent" % version
        ours, peer = "dask %s, venturi %%s, %s, %%s" % (version, shape), "dask %s, dask %%s, %s, get" % (version, shape)
        ROWS += [
            (ours % ("sync", "get"), label, peer % "sync", "dask", 1, ("value", "<=", 3)),
            (ours % ("sync", "run"), "  %s, execution" % shape, None, None, 1, ("value", "<=", 1)),
            (ours % ("threads", "get"), "  %s, 2 threads" % shape, peer % "threads", "dask", 1, None),
        ]

# Empty tasks of C graphs, recorded: vt_run_go() from its beginning to its end. The peers record nothing.
for shape, label in (("ep", "independent"), ("chain", "chain"), ("tree", "tree")):
    ROWS += [
        ("graph_sync_" + shape, "C task, %s, sync" % label, None, None, 1, ("value", "<=", 0.15)),
        ("graph_sync_%s_cpu" % shape, "  processor time", None, None, 1, None),
        ("graph_threads_" + shape, "  2 threads", "openmp_" + shape, "OpenMP", 1, ("value", "<=", 0.3)),
        ("graph_threads_" + shape, "  … beside TBB", "tbb_" + shape, "TBB", 1, None),
        ("graph_threads_" + shape, "  … beside StarPU", "starpu_" + shape, "StarPU", 1, None),
        ("graph_processes_" + shape, "  2 processes", None, None, 1, ("value", "<=", 3)),
        ("graph_sync_%s_build" % shape, "  building the graph", None, None, 1, None),
    ]

WIDTHS = (28, 9, 19, 9, 11, 6)


def number(value):
    """Three digits that matter, thousands as k and millions as M."""
    for limit, divisor, letter in ((1e6, 1e6, " M"), (1e4, 1e3, " k")):
        if abs(value) >= limit:
            return number(value / divisor) + letter
    return "%.0f" % value if abs(value) >= 100 else "%.1f" % value if abs(value) >= 10 else "%.2f" % value


def quantity(value, unit):
    return number(value) + ("" if unit in ("bytes", "lines/s", "documents/s") else " " + unit)


def judge(budget, value, ratio):
    """A ratio as it is printed: budgets have two decimals, and the third is noise."""
    measured = round(ratio, 2) if budget[0] == "ratio" else value
    return measured <= budget[2] if budget[1] == "<=" else measured >= budget[2]


def make_rows(figures):
    """One dict for each row whose figure there is. An indented label adds to the one above it."""
    rows = []
    above = ""
    for name, label, beside, beside_label, factor, budget in ROWS:
        ours, other = figures.get(name), figures.get(beside)
        if ours is None or (beside in ("lttng_pair", "uftrace_instrument_call", "uftrace_pg_call")
                            and other is None):
            continue
        label = label.format(**ours)
        above = above if label.startswith(" ") else label
        row = {"name": above + ", " + label.strip() if label.startswith(" ") else label, "label": label,
               "figure": name, "ours": ours["value"], "unit": ours["unit"]}
        if other:
            row.update(beside=other["value"] * factor, beside_what=beside_label)
        if other and other["value"]:
            row.update(ratio=ours["value"] / row["beside"])
        if budget and (budget[0] == "value" or "ratio" in row):
            row.update(budget=budget[1:], budget_of=budget[0],
                       ok=judge(budget, row["ours"], row.get("ratio")))
        rows.append(row)
    return rows


def cells(row):
    beside = ratio = budget = verdict = ""
    if "beside" in row:
        beside = row["beside_what"] + " " + quantity(row["beside"], row["unit"])
    if "ratio" in row:
        ratio = "%.2f x" % row["ratio"]
    if "budget" in row:
        limit = "%.2f x" % row["budget"][1] if row["budget_of"] == "ratio" else (
            "%g" % row["budget"][1] + quantity(0, row["unit"])[len(number(0)):])
        budget = row["budget"][0] + " " + limit
        verdict = "ok" if row["ok"] else "OVER"
    return row["label"], quantity(row["ours"], row["unit"]), beside, ratio, budget, verdict


def line(texts):
    parts = ["%-*s" % (WIDTHS[0], texts[0])]
    parts += ["%*s" % (width, text) for width, text in zip(WIDTHS[1:], texts[1:])]
    return "".join(parts).rstrip()


def render(rows):
    head = line(("", "ours", "beside", "ratio", "budget", ""))
    return "\n".join([head, "-" * sum(WIDTHS)] + [line(cells(row)) for row in rows])
