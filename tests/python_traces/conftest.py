"""Traces in Python: trace points, services, clients, osprofiler's names; in every interpreter that there is."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
collect_ignore = ["python_cases"]
