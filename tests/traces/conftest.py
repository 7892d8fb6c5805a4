"""Traces: what services in C send each other, and the views that the tool has of it."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
