"""dask.distributed: clusters on this machine that are recorded, with the newest release and with Debian's."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
collect_ignore = ["python_cases"]
