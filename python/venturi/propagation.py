"""Traces across services: what a request carries.

    headers.update(propagation.headers())                   whoever is called continues this trace
    context = propagation.accept(request_headers.get, keys)   a dict for trace.attach(), or None

Two kinds of headers are sent and understood: osprofiler's `X-Trace-Info` and `X-Trace-HMAC`, byte for byte, and W3C's `traceparent` and
`tracestate`. The secret is the trigger: only a request signed with one of the service's keys is traced. `traceparent` alone is followed
where the service says that it trusts its callers.

Headers come from anybody. Nothing here raises because of what they hold: a request with a header that is forged, broken, too long or not
text is served untraced, counted (`rejected()`) and, the first time in a process, named in the log of `venturi.propagation`.
"""
import base64
import binascii
import hashlib
import hmac
import json
import logging
import os
import re
import threading
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import trace
from ._venturi import trace_id_of

X_TRACE_INFO = "X-Trace-Info"
X_TRACE_HMAC = "X-Trace-HMAC"
TRACEPARENT = "traceparent"
TRACESTATE = "tracestate"

MAX_INFO = 8192  # bytes of X-Trace-Info, as in C; osprofiler's own are 140
MAX_ID = 256
MAX_PARENT = 255  # of later versions of traceparent
MAX_STATE = 512  # what W3C asks everybody to pass on
SAMPLED = 1
KNOWN_FLAGS = 3  # sampled, random; others are not for us to pass on

Keys = Union[str, Sequence[str], None]
Text = Union[str, bytes, None]

_log = logging.getLogger(__name__)
_lock = threading.RLock()  # a signal's handler may come in between
_rejected = 0

_TRACEPARENT = re.compile("([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.S)
_TRACESTATE = re.compile("[\x20-\x7e]*")
_SIGNATURE = re.compile(b"[0-9a-f]{40}")
_BASE64 = re.compile(b"[0-9A-Za-z+/_-]+={0,2}")
_BLANKS = " \t\n\r\v\f"


class Rejected(ValueError):
    """Why a header is not accepted. Only verify() raises it."""


class Parent(NamedTuple):
    """What `traceparent` says. The ids are UUIDs as text; the upper half of the parent's is zero."""
    base_id: str
    parent_id: str
    flags: int


def split_keys(keys: Keys) -> List[str]:
    """The keys of a list "one, two" as in `hmac_keys`: blanks around them and empty ones do not count. A list is taken as it is."""
    if isinstance(keys, str):
        return [key for key in (part.strip() for part in keys.split(",")) if key]
    return [key for key in keys or () if key and isinstance(key, (str, bytes))]


def sign(info: Union[str, bytes], key: Union[str, bytes]) -> str:
    """What `X-Trace-HMAC` is for this `X-Trace-Info`."""
    return hmac.new(_bytes(key), _bytes(info), hashlib.sha1).hexdigest()


def pack(ids: Any, key: Optional[str]) -> Tuple[str, Optional[str]]:
    """`X-Trace-Info` of a dict with `base_id` and `parent_id`, in this order, and its `X-Trace-HMAC`; without a key there is no signature,
    and nobody accepts it."""
    info = base64.urlsafe_b64encode(json.dumps(ids).encode("ascii")).decode("ascii")
    return info, sign(info, key) if key else None


def unpack(info: Text, signature: Text, keys: Keys) -> Optional[Dict[str, str]]:
    """The ids that the two headers carry, with the key that fitted as `hmac_key`; None if they are not signed with one of the keys,
    or hold anything but ids. A service without keys looks at none, and so rejects none."""
    known = split_keys(keys)
    if not known:
        return None
    try:
        data, key = verify(info, signature, known)
        return dict(_ids(data), hmac_key=key)
    except Rejected as why:
        _count(str(why))
        return None


def verify(info: Text, signature: Text, keys: Keys) -> Tuple[bytes, str]:
    """`X-Trace-Info` without blanks around it, and the key that it is signed with; Rejected if there is none."""
    data = _ascii(info).strip()
    signed = _ascii(signature).strip()
    if not data or not signed:
        raise Rejected("one of %s and %s is missing" % (X_TRACE_INFO, X_TRACE_HMAC))
    if len(data) > MAX_INFO:
        raise Rejected("%s has %d bytes" % (X_TRACE_INFO, len(data)))
    known = split_keys(keys)
    if not known:
        raise Rejected("this service has no keys (hmac_keys)")
    if not _SIGNATURE.fullmatch(signed):
        raise Rejected("%s is not one" % X_TRACE_HMAC)
    key = next((key for key in known if hmac.compare_digest(signed, sign(data, key).encode("ascii"))), None)
    if key is None:
        raise Rejected("%s is signed with none of the keys" % X_TRACE_INFO)
    return data, key


def format_traceparent(base_id: str, span_id: str, flags: int = SAMPLED) -> str:
    """`traceparent` for a span. Ids that are no UUIDs are mapped as everywhere in Venturi."""
    return "00-%s-%s-%02x" % (trace_id_of(base_id).hex(), trace_id_of(span_id).hex()[16:], flags & 0xff)


def parse_traceparent(value: Text) -> Optional[Parent]:
    """What `traceparent` says, or None if it is not as W3C wants it. Later versions are read as far as they are known. Whoever has no
    span yet sends the end of the trace's own id, which is then the parent."""
    text = _text(value).strip(_BLANKS)
    found = _TRACEPARENT.fullmatch(text) if len(text) <= MAX_PARENT else None
    if not found or found[1] == "ff" or found[1] == "00" and found[5]:
        return None
    if not int(found[2], 16) or not int(found[3], 16):
        return None
    parent = found[2] if found[2].endswith(found[3]) else found[3].rjust(32, "0")
    return Parent(_dashed(found[2]), _dashed(parent), int(found[4], 16) & KNOWN_FLAGS)


def parse_tracestate(value: Text) -> str:
    """The text to pass on as it came, whole entries as far as there is room; "" if it is far too long or not text."""
    text = _text(value)
    if len(text) > MAX_INFO:
        return ""
    text = text.strip(_BLANKS)
    if not _TRACESTATE.fullmatch(text):
        return ""
    return text if len(text) <= MAX_STATE else text[:max(text.rfind(",", 0, MAX_STATE + 1), 0)]


def headers() -> Dict[str, str]:
    """What to send with a request so that whoever serves it continues the current trace; {} if no trace is on.

    `X-Trace-Info` and `X-Trace-HMAC` are there if the trace has a key.
    """
    profiler = trace.get()
    if not profiler:
        return {}
    base, span = profiler.get_base_id(), profiler.get_id()
    found = signed_headers()
    found[TRACEPARENT] = format_traceparent(base, span, profiler.flags)
    if profiler.tracestate:
        found[TRACESTATE] = profiler.tracestate
    return found


def signed_headers() -> Dict[str, str]:
    """osprofiler's two of headers(); {} if no trace is on or it has no key."""
    profiler = trace.get()
    if not profiler or not profiler.hmac_key:
        return {}
    info, signature = pack({"base_id": profiler.get_base_id(), "parent_id": profiler.get_id()}, profiler.hmac_key)
    return {X_TRACE_INFO: info, X_TRACE_HMAC: signature or ""}


def accept(get: Callable[[str], Any], keys: Keys, trust_traceparent: bool = False) -> Optional[Dict[str, Any]]:
    """The trace that a request belongs to: a dict for trace.attach(), with the key that fitted as `hmac_key`; None to serve it untraced.

    `get` gives the value of a header (text or bytes) by its name in lower case, or None. With `trust_traceparent` a request without
    osprofiler's headers is traced too if its `traceparent` says that its sender records it. If there are no keys, osprofiler's headers
    do not count at all.
    """
    info, signature = get("x-trace-info"), get("x-trace-hmac")
    parent = get(TRACEPARENT)
    if (info or signature) and split_keys(keys):
        context: Optional[Dict[str, Any]] = unpack(info, signature, keys)
        if context:
            _add_state(context, parse_traceparent(parent), get)
        return context
    if not parent or not trust_traceparent:
        return None
    said = parse_traceparent(parent)
    if not said:
        _count("traceparent is not as W3C wants it")
        return None
    if not said.flags & SAMPLED:
        return None
    context = {"base_id": said.base_id, "parent_id": said.parent_id}
    _add_state(context, said, get)
    return context


def rejected() -> int:
    """How many requests of this process had headers that were not accepted."""
    return _rejected


def _ids(data: bytes) -> Dict[str, str]:
    """What is in an `X-Trace-Info` that a holder of the key has signed; trace_info.c takes the same, to the last byte."""
    if not _BASE64.fullmatch(data) or len(data) % 4:
        raise Rejected("%s is not base64" % X_TRACE_INFO)
    try:
        said = json.loads(base64.urlsafe_b64decode(data).decode("utf-8"), object_pairs_hook=_once_each)
    except (ValueError, binascii.Error, RecursionError):
        raise Rejected("%s cannot be decoded" % X_TRACE_INFO) from None
    if not isinstance(said, dict) or not said.get("base_id") or not set(said) <= {"base_id", "parent_id"}:
        raise Rejected("%s has other keys than base_id and parent_id" % X_TRACE_INFO)
    ids = {name: value for name, value in said.items() if value is not None and value != ""}
    for value in ids.values():
        if not isinstance(value, str) or len(value) > MAX_ID or not _is_text(value):
            raise Rejected("an id of %s is no text, or too long" % X_TRACE_INFO)
    return ids


def _once_each(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    """An object of JSON in which nothing is said twice."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a thing is said twice")
    return dict(pairs)


def _add_state(context: Dict[str, Any], said: Optional[Parent], get: Callable[[str], Any]) -> None:
    """What W3C wants passed on, if it is of the same trace."""
    if said and trace_id_of(context["base_id"]) == trace_id_of(said.base_id):
        context["flags"] = said.flags
        state = parse_tracestate(get(TRACESTATE))
        if state:
            context["tracestate"] = state


def _count(why: str) -> None:
    global _rejected
    with _lock:
        _rejected += 1
        is_first = _rejected == 1
    if is_first:
        _log.warning("a request is served untraced: %s; more of them are counted, not logged", why)


def _forked() -> None:
    """Whoever held it is not in the child."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _bytes(text: Union[str, bytes]) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def _ascii(value: Any) -> bytes:
    try:
        return value.encode("ascii") if isinstance(value, str) else value if isinstance(value, bytes) else b""
    except UnicodeEncodeError:
        raise Rejected("a header is not ASCII") from None


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value if isinstance(value, str) else ""


def _is_text(value: str) -> bool:
    """No half of a pair that UTF-8 cannot hold, and no control characters."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return all(character >= " " and character != "\x7f" for character in value)


def _dashed(digits: str) -> str:
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
