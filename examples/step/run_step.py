"""A step of Python: alerts come from a file, each is classified by its history, kinds go to another file.

    venturi run examples/step/run_step.py
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import settings  # noqa: E402
from venturi.step import GenericStep, SettingsError  # noqa: E402


class AlertStep(GenericStep):
    def pre_execute(self, messages):
        return [message for message in messages if message["history"]]

    def execute(self, messages):
        return [{"candid": message["candid"], "kind": self.classify(message)} for message in messages]

    def post_execute(self, result):
        self.metrics["rising"] = sum(each["kind"] == "rising" for each in result)
        return result

    @staticmethod
    def slope(history):
        """Of a straight line through the magnitudes, by least squares."""
        count = len(history)
        middle = (count - 1) / 2
        mean = sum(history) / count
        square = sum((at - middle) ** 2 for at in range(count))
        return sum((at - middle) * (value - mean) for at, value in enumerate(history)) / square if square else 0.0

    def classify(self, message):
        slope = self.slope(message["history"] + [message["magnitude"]])
        return "rising" if slope < -0.1 else "falling" if slope > 0.1 else "steady"


if __name__ == "__main__":
    try:
        AlertStep(config=settings.STEP_CONFIG).start()
    except SettingsError as error:
        print("run_step.py: settings.py: %s" % error, file=sys.stderr)
        sys.exit(2)
