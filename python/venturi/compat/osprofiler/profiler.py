"""osprofiler.profiler: trace points."""
from venturi.trace import Profiler as _Profiler
from venturi.trace import Trace, TracedMeta, clean, get, init, start, stop, trace, trace_cls

__all__ = ["Trace", "TracedMeta", "_Profiler", "clean", "get", "init", "start", "stop", "trace", "trace_cls"]
