"""osprofiler.requests: spans of outgoing requests. Ours also sees urllib.request and http.client."""


def enable() -> None:
    """Hooks in."""
    from venturi import clients  # only then: http.client takes its time to load
    clients.install()
