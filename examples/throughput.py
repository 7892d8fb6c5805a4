"""How many alerts a second one module classifies, how many of them to the end, and what that uses.

    PYTHONPATH=build/python python3 examples/throughput.py                  says so itself
    venturi run --energy examples/throughput.py                             … and records it, for `venturi report`

The script that pipelines have for each of their modules; the alerts are made up, so nothing but Python is needed.
"""
import time

import venturi
from alerts import Step, classify, make_alerts
from venturi.energy import EmissionsTracker

alerts = list(make_alerts())
step = Step(limit=60)

# Change accordingly the PUE, and the country
with EmissionsTracker(tracking_mode="process", pue=1.25, country_iso_code="FRA") as tracker:
    t0 = time.time()

    # call the processor without the decorator of the cluster
    out = classify.__wrapped__(step, alerts)

    # Raw throughput (single core)
    print("{:.2f} alert/second".format(len(out) / (time.time() - t0)))

    # A negative probability means that the code did not run fully (quality cuts):
    # the others are those that count (effective throughput)
    done = sum(p > 0 for p in out)
    print("{:.0f}% objects with p > 0".format(done / len(out) * 100))
    venturi.items(len(out), effective=done)

energy, speed = tracker.final_energy, tracker.final_throughput
print("{:.2f} alert/second of CPU time, {:.2f} effective".format(speed.per_cpu_second, speed.effective / speed.cpu_seconds))
print("{:.2f} J of the machine's {:.2f} J in {:.2f} s: {:.2f} J and {:.3g} g CO2e for 1,000 alerts".format(
    energy.share_j, energy.gross_j, energy.seconds, speed.joules_per_1000, speed.grams_per_1000))
print("{:.3g} kg CO2e ({})".format(tracker.final_emissions, tracker.final_emissions_data.provenance))
for advice in energy.advice:
    print(advice)
