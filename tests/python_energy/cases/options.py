"""Where options come from: home, folder, environment, constructor; and what is wrong with them."""
import logging
import os
import re
import subprocess
import sys

from machine import Machine, Said
from venturi.energy import EmissionsTracker, LoggerOutput, OutputMethod, _tracker
from venturi.energy._options import ORDER, settle

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs", "emissions.md")


def config(folder, **values):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, ".codecarbon.config"), "w") as file:
        file.write("[codecarbon]\n" + "".join("%s = %s\n" % item for item in values.items()))


def option(name, *args, **keywords):
    return EmissionsTracker(*args, **keywords)._options[name]


def test_the_nearest_wins():
    os.environ["HOME"] = os.path.abspath("home")
    assert option("project_name") == "codecarbon" and option("pue") == 1.0
    config("home", project_name="home", pue="1.5", wue="3", save_to_file="false", measure_power_secs="2")
    assert option("project_name") == "home" and option("pue") == 1.5 and option("save_to_file") is False
    config(".", project_name="folder", pue="1.6")
    assert option("project_name") == "folder" and option("wue") == 3.0
    os.environ["CODECARBON_PROJECT_NAME"] = "environment"
    os.environ["codecarbon_wue"] = "4"
    assert option("project_name") == "environment" and option("wue") == 4.0 and option("pue") == 1.6
    assert option("project_name", project_name="given") == "given" == option("project_name", "given")
    assert option("project_name", project_name=None) == "environment"
    assert option("measure_power_secs", "a", 0.5) == 0.5 and option("measure_power_secs") == 2
    os.environ["CODECARBON_COUNTRY_ISO_CODE"] = "SWE"
    assert EmissionsTracker()._location.country_name == "Sweden"


def test_settings_that_are_wrong_are_said_and_ignored():
    said = Said()
    os.environ.update(CODECARBON_PUE="much", CODECARBON_TRACKING_MODE="all", CODECARBON_SAVE_TO_FILE="perhaps", CODECARBON_NOBODY="x")
    assert option("pue") == 1.0 and option("tracking_mode") == "machine" and option("save_to_file") is True
    assert said.has("pue = 'much'") and said.has("tracking_mode = 'all'") and said.has("save_to_file") and not said.has("nobody")
    with open(".codecarbon.config", "w") as file:
        file.write("project_name = no section\n")
    EmissionsTracker()
    assert said.has(".codecarbon.config is ignored")
    config(".", pue="most")
    os.environ.pop("CODECARBON_PUE")
    os.environ["CODECARBON_OUTPUT_DIR"] = "/nowhere"
    for keywords in ({}, dict(save_to_file=False)):
        assert option("output_dir", **keywords) == "."
    assert said.has("output_dir = '/nowhere' in the environment is ignored: there is no such folder") == 2
    assert said.has("pue = 'most' in ./.codecarbon.config is ignored")


def test_a_folder_is_needed_where_something_is_written():
    assert option("output_dir", output_dir="nowhere", save_to_file=False) == "nowhere"
    try:
        EmissionsTracker(output_dir="nowhere")
    except OSError as error:
        assert "nowhere" in str(error)
        return
    raise AssertionError("no folder, and nobody said so")


def test_who_speaks():
    """By default: once logs go somewhere, that is the program's choice."""
    code = "import venturi.energy as e; e.EmissionsTracker(country_iso_code='ZZZ')"
    first = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, check=True).stderr
    assert first.startswith("venturi.energy: country 'ZZZ' is not in the table") and first.count("\n") == 1, first
    code = "import logging; logging.basicConfig(format='%(message)s'); " + code
    second = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, check=True).stderr
    assert second == first[len("venturi.energy: "):], second


def test_numbers_are_named():
    for wrong, text in ((dict(pue=0.5), "of at least 1"), (dict(force_cpu_power=0), "above 0"),
                        (dict(pue=1e30), "of at least 1 and at most 1e+15"), (dict(baseline_secs=9999), "of at least 0 and at most 3600")):
        try:
            EmissionsTracker(**wrong)
        except ValueError as error:
            assert str(error).endswith("it is a number " + text), error
            continue
        raise AssertionError(wrong)


def test_arguments_that_are_wrong_raise():
    for wrong in (dict(pue=0.5), dict(wue=-1), dict(tracking_mode="all"), dict(measure_power_secs=0), dict(force_cpu_power=-5),
                  dict(pue="nan"), dict(force_carbon_intensity_g_co2e_kwh=-1), dict(output_methods=["paper"]), dict(pue=float("inf"))):
        try:
            EmissionsTracker(**wrong)
        except ValueError:
            continue
        raise AssertionError(wrong)
    for args, keywords in (((), dict(nobody=1)), (("a",), dict(project_name="b")), (range(99), {})):
        try:
            EmissionsTracker(*args, **keywords)
        except TypeError:
            continue
        raise AssertionError((args, keywords))


def test_output_methods():
    def kinds(**keywords):
        return [type(handler).__name__ for handler in EmissionsTracker(**keywords)._handlers]
    assert kinds() == kinds(output_methods="csv") == kinds(output_methods=[OutputMethod.CSV]) == ["FileOutput"]
    assert kinds(output_methods=[]) == kinds(save_to_file=False) == []
    assert kinds(save_to_logger=True) == kinds(output_methods="csv, logger") == ["FileOutput", "LoggerOutput"]
    os.environ["CODECARBON_OUTPUT_METHODS"] = "logger"
    assert kinds() == ["LoggerOutput"]


def test_order_is_codecarbons():
    assert ORDER[:8] == ("project_name", "measure_power_secs", "api_call_interval", "api_endpoint", "api_key", "output_dir", "output_file",
                         "output_methods")


def documented():
    """The options that have a row, and those that are said to be without effect."""
    with open(DOCS, encoding="utf-8") as file:
        text = file.read().split("## Options")[1].split("\n## ")[0]
    table, nothing = text.split("**Accepted, without effect**")
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall("`(\\w+)`", row)}, set(re.findall("`(\\w+)`", nothing))


def test_every_option_is_honoured_or_said_not_to_be():
    Machine()
    honoured, without = documented()
    assert honoured | without == set(ORDER) and not honoured & without, (honoured | without) ^ set(ORDER)
    asked = set()

    class Asked(dict):
        def __getitem__(self, name):
            asked.add(name)
            return dict.__getitem__(self, name)

    _tracker.settle = lambda *arguments: Asked(settle(*arguments))
    for options in (dict(country_iso_code="FRA", save_to_logger=True, api_call_interval=-1), dict(output_methods="csv")):
        with EmissionsTracker(measure_power_secs=60, **options) as tracker:
            tracker.start_task("one")
            tracker.stop_task()
    assert honoured <= asked, honoured - asked
    assert set(ORDER) - asked <= without


def test_rows_go_to_a_logger():
    Machine()
    lines = []
    for name, options in (("venturi.energy.rows", {}), ("mine", dict(logging_logger=logging.getLogger("mine"))),
                          ("other", dict(logging_logger=LoggerOutput(logging.getLogger("other"), logging.ERROR)))):
        logger = logging.getLogger(name)
        logger.setLevel(logging.INFO)
        logger.addHandler(type("Keep", (logging.Handler,), {"emit": lambda self, record: lines.append((record.name, record.levelname))})())
        with EmissionsTracker(save_to_logger=True, save_to_file=False, country_iso_code="FRA", measure_power_secs=60, **options):
            pass
    assert lines == [("venturi.energy.rows", "INFO"), ("mine", "INFO"), ("other", "ERROR")] and not os.path.exists("emissions.csv")
