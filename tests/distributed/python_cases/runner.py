"""runner FILE:CASE…: calls these functions test_… of files of cases and prints a line of JSON for each. Workers import this file again."""
import faulthandler
import importlib
import json
import logging
import signal
import sys
import time
import traceback

if __name__ == "__main__":
    import kit

    faulthandler.register(signal.SIGUSR1, all_threads=True)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    for word in sys.argv[1:]:
        file, name = word.split(":")
        why = ""
        begun = time.monotonic()
        try:
            getattr(importlib.import_module(file), name)()
        except kit.Skip as reason:
            why = f"skip: {reason}"
        except BaseException:
            why = traceback.format_exc()
        print(json.dumps({"file": file, "case": name, "why": why, "seconds": round(time.monotonic() - begun, 2)}), flush=True)
    kit.close()
