"""Settings of the example: a file of alerts in, a file of kinds out, metrics for the index test_step-alertstep-YYYYMMDD."""
import os

FOLDER = os.path.dirname(os.path.abspath(__file__))

CONSUMER_CONFIG = {
    "CLASS": "venturi.step.consumers.JSONConsumer",
    "FILE_PATH": os.environ.get("MESSAGES", os.path.join(FOLDER, "messages.jsonl")),
    "NUM_MESSAGES": 10,
}

PRODUCER_CONFIG = {
    "CLASS": "venturi.step.producers.JSONProducer",
    "FILE_PATH": os.environ.get("RESULTS", "results.jsonl"),
}

ES_CONFIG = {"INDEX_PREFIX": "test_step"}

METRICS_CONFIG = {"EXTRA_METRICS": ["candid", {"key": "history", "format": len, "alias": "ndet"}]}

STEP_CONFIG = {
    "CONSUMER_CONFIG": CONSUMER_CONFIG,
    "PRODUCER_CONFIG": PRODUCER_CONFIG,
    "ES_CONFIG": ES_CONFIG,
    "METRICS_CONFIG": METRICS_CONFIG,
}
