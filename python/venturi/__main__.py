"""`python -m venturi ARGUMENTS` is `venturi ARGUMENTS`, with this Python for the scripts that it runs."""
import os
import sys
from typing import NoReturn

# The tool as seen from this folder: in a wheel, in a build folder, installed by Meson.
PLACES = ("_tool/venturi", "../../venturi", "../../../../bin/venturi", "../../../../../bin/venturi")


def find_tool() -> str:
    """Path of the tool that belongs to this package; "" if it is not there."""
    folder = os.path.dirname(os.path.abspath(__file__))
    for place in PLACES:
        path = os.path.normpath(os.path.join(folder, place))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""


def main() -> NoReturn:
    tool = find_tool()
    if not tool:
        sys.exit("venturi: the tool is not where this package expects it: " + os.path.dirname(os.path.abspath(__file__)))
    if sys.executable:
        os.environ["VENTURI_INTERPRETER"] = sys.executable
    try:
        os.execv(tool, ["venturi", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"venturi: {tool}: {error.strerror}")


if __name__ == "__main__":
    main()
