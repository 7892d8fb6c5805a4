"""Profilers of task graphs, their pages, and the decorator for dask clusters: beside the real dask, in every interpreter that there is."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "python_run"))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "page"))
collect_ignore = ["cases"]
