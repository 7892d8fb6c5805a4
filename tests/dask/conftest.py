"""venturi.dask in every interpreter that there is, beside the dask that tools/neighbours brings: its newest, and that of Debian 12."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python_run"))
collect_ignore = ["cases"]
