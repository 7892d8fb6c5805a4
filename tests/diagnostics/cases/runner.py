"""runner FILE: calls the functions test_… of a file of cases, each in an empty folder, and prints a line of JSON for each."""
import importlib
import json
import os
import sys
import tempfile
import traceback


def main():
    module = importlib.import_module(sys.argv[1])
    for name in [name for name in vars(module) if name.startswith("test_")]:
        why = ""
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                getattr(module, name)()
            except BaseException:
                why = traceback.format_exc()
            os.chdir("/")
        print(json.dumps({"case": name, "why": why}), flush=True)
    getattr(module, "close", int)()


if __name__ == "__main__":
    main()
