"""osprofiler.requests: spans of outgoing requests. Ours also sees urllib.request and http.client."""
from venturi import clients


def enable() -> None:
    """Hooks in."""
    clients.install()
