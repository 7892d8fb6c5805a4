"""A pipeline step in miniature: alerts come in as JSON, each is classified, two threads share the work."""
import json
import random
import sys
import threading


def read(count, seed):
    generator = random.Random(seed)
    for number in range(count):
        yield json.dumps({"id": number, "magnitude": generator.gauss(19, 1), "history": list(range(number % 9))})


def classify(alert):
    if alert["magnitude"] < 18.5 and len(alert["history"]) > 2:
        return "bright"
    return "faint"


def execute(count, seed, found):
    for message in read(count, seed):
        kind = classify(json.loads(message))
        found[kind] = found.get(kind, 0) + 1


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    found = [{}, {}]
    threads = [threading.Thread(target=execute, args=(count // 2, seed, found[seed]), name="worker %d" % seed)
               for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print({kind: sum(each.get(kind, 0) for each in found) for kind in ("bright", "faint")})


if __name__ == "__main__":
    main()
