"""runner FILE…: calls the functions test_… of files of cases and prints a line of JSON for each. Workers import this file again."""
import importlib
import json
import logging
import sys
import time
import traceback

if __name__ == "__main__":
    import kit

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    for file in sys.argv[1:]:
        module = importlib.import_module(file)
        for name in [name for name in vars(module) if name.startswith("test_")]:
            why = ""
            begun = time.monotonic()
            try:
                getattr(module, name)()
            except kit.Skip as reason:
                why = f"skip: {reason}"
            except BaseException:
                why = traceback.format_exc()
            print(json.dumps({"file": file, "case": name, "why": why, "seconds": round(time.monotonic() - begun, 2)}), flush=True)
    kit.close()
