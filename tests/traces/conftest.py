"""Traces: trace points of Python and C, what services send each other, and the tool's views of it."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
collect_ignore = ["python_cases"]
