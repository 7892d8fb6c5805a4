"""venturi.energy asks nothing of the network, whatever its options would like to send."""
import os
import sys

import pytest
from conftest import environment
from interpreters import PACKAGE, VERSIONS, python_or_skip

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import offline  # noqa: E402

TRACKERS = """
from venturi.energy import EmissionsTracker, OfflineEmissionsTracker, track_emissions
for kind in EmissionsTracker, OfflineEmissionsTracker:
    with kind(save_to_api=True, save_to_prometheus=True, save_to_logfire=True, emissions_endpoint="http://localhost:1", api_key="x",
              electricitymaps_api_token="x", api_endpoint="http://localhost:1", cloud_provider="gcp", cloud_region="europe-west1",
              measure_power_secs=0.01, api_call_interval=1, country_iso_code="FRA") as tracker:
        tracker.start_task("one")
        tracker.stop_task()
EmissionsTracker().start()
track_emissions(lambda: None)()
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_a_tracker(version, tmp_path):
    offline.check_the_filter()
    done = offline.run([python_or_skip(version), "-c", TRACKERS], cwd=tmp_path, env=environment(tmp_path, PACKAGE))
    assert done.returncode == 0, done
    with open(tmp_path / "emissions.csv") as file:
        assert len(file.readlines()) == 5, done.stderr
