"""Processes that must not use the network: whoever asks the kernel for a socket of the internet is killed, and so are its children.

The filter is the kernel's (seccomp): no library, no static binary and no bare system call gets around it. Sockets of the machine itself stay allowed.
"""
import ctypes
import os
import platform
import signal
import socket
import struct
import subprocess
import sys

import pytest

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
KILL, ALLOW = 0x80000000, 0x7FFF0000
LOAD, IS, RETURN = 0x20, 0x15, 0x06
NUMBER, FIRST_ARGUMENT = 0, 16  # in struct seccomp_data; the lower half of a little-endian machine
SOCKET_CALLS = {"x86_64": 41, "aarch64": 198}


def _program():
    code = [(LOAD, 0, 0, NUMBER), (IS, 0, 3, SOCKET_CALLS[platform.machine()]), (LOAD, 0, 0, FIRST_ARGUMENT),
            (IS, 2, 0, socket.AF_INET), (IS, 1, 0, socket.AF_INET6), (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, KILL)]
    return b"".join(struct.pack("=HBBI", *one) for one in code), len(code)


class _Filter(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def _forbid():
    code, count = _program()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
            PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(_Filter(count, code)), 0, 0):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def run(command, **keywords):
    """As subprocess.run(), without a network."""
    if platform.machine() not in SOCKET_CALLS:
        pytest.skip("the number of socket() is not known here")
    keywords = dict(dict(capture_output=True, text=True, timeout=300), **keywords)
    try:
        return subprocess.run([os.fspath(word) for word in command], preexec_fn=_forbid, **keywords)
    except subprocess.SubprocessError:
        pytest.skip("the kernel takes no filter of system calls")


def check_the_filter():
    """It does what the tests trust it to do, also to children."""
    for family, code in (("AF_UNIX", 0), ("AF_INET", -signal.SIGSYS), ("AF_INET6", -signal.SIGSYS)):
        text = "import socket; socket.socket(socket.%s)" % family
        assert run([sys.executable, "-c", text]).returncode == code, family
        child = "import subprocess, sys; print(subprocess.run([sys.executable, '-c', %r]).returncode)" % text
        assert run([sys.executable, "-c", child]).stdout == "%d\n" % code, family
