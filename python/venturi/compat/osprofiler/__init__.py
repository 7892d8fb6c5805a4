"""osprofiler's modules, names and signatures, made of Venturi.

    from venturi.compat.osprofiler import profiler

in place of `from osprofiler import profiler`. It talks to services that run the real one, and needs neither it nor any oslo package; where
oslo.config is installed, `opts` registers its options there. What differs is in docs/traces.md, "Coming from osprofiler".
"""
__version__ = "4.4.0"  # whose interface this is
