"""runner FILE: calls the functions test_… of a file of cases and prints a line of JSON for each."""
import importlib
import json
import os
import sys
import traceback

import kit

if os.environ.get("HIDDEN"):
    sys.modules[os.environ["HIDDEN"]] = None  # as if it were not installed
module = importlib.import_module(sys.argv[1])
for name in [name for name in vars(module) if name.startswith("test_")]:
    why = ""
    kit.reset()
    try:
        getattr(module, name)()
    except BaseException:
        why = traceback.format_exc()
    print(json.dumps({"case": name, "why": why}), flush=True)
