"""Where options come from: home, folder, environment, constructor; and what is wrong with them."""
import os

from machine import Said
from venturi.energy import EmissionsTracker, OutputMethod
from venturi.energy._options import ORDER


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
