"""osprofiler._utils: signed texts and short ids, which some programs import although the name says not to."""
import base64
import json
from typing import Any, Dict, Generator, List, Optional, Sequence, Set, Tuple, Type, TypeVar, Union

from venturi import propagation
from venturi._venturi import trace_id_of

Class = TypeVar("Class")


def split(text: Union[str, List[Any], Tuple[Any, ...]], strip: bool = True) -> Union[List[Any], Tuple[Any, ...]]:
    """The parts of a text with commas; a list or tuple is returned as it is."""
    if isinstance(text, (tuple, list)):
        return text
    if not isinstance(text, str):
        raise TypeError("Unknown how to split '%s': %s" % (text, type(text)))
    return propagation.split_keys(text) if strip else text.split(",")


def binary_encode(text: Union[str, bytes], encoding: str = "utf-8") -> bytes:
    """Text as bytes; bytes as they are."""
    if isinstance(text, (str, bytes)):
        return text if isinstance(text, bytes) else text.encode(encoding)
    raise TypeError("Expected binary or string type")


def binary_decode(data: Union[str, bytes], encoding: str = "utf-8") -> str:
    """Bytes as text; text as it is."""
    if isinstance(data, (str, bytes)):
        return data if isinstance(data, str) else data.decode(encoding)
    raise TypeError("Expected binary or string type")


def generate_hmac(data: Union[str, bytes], hmac_key: Union[str, bytes]) -> str:
    """The signature of data, as 40 hex digits."""
    return propagation.sign(binary_encode(data), binary_encode(hmac_key))


def signed_pack(data: Any, hmac_key: Optional[str]) -> Tuple[bytes, Optional[str]]:
    """Data as base64 of JSON, and its signature; None without a key."""
    info, signature = propagation.pack(data, hmac_key)
    return info.encode("ascii"), signature


def signed_unpack(data: Union[str, bytes, None], hmac_data: Optional[str], hmac_keys: Union[str, Sequence[str], None]
                  ) -> Optional[Dict[str, Any]]:
    """What signed_pack() was given, with the key that fitted as `hmac_key`; None if anything is wrong."""
    try:
        packed, key = propagation.verify(data, hmac_data, hmac_keys)
        contents: Dict[str, Any] = json.loads(base64.urlsafe_b64decode(packed).decode("utf-8"))
        contents["hmac_key"] = key
        return contents
    except (ValueError, TypeError, RecursionError):
        return None


def itersubclasses(cls: Type[Class], _seen: Optional[Set[type]] = None) -> Generator[Type[Class], None, None]:
    """All subclasses of a class, depth first, each once."""
    seen: Set[type] = set() if _seen is None else _seen
    for sub in type.__subclasses__(cls):
        if sub not in seen:
            seen.add(sub)
            yield sub
            yield from itersubclasses(sub, seen)


def shorten_id(span_id: Union[str, int]) -> int:
    """The lower 64 bits of an id. A text that is no UUID has the same number each time."""
    return uuid_to_int128(span_id) & (1 << 64) - 1


def uuid_to_int128(span_uuid: Union[str, int]) -> int:
    """An id as a number."""
    return span_uuid if isinstance(span_uuid, int) else int.from_bytes(trace_id_of(span_uuid), "big")
