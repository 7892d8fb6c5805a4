/* The recordings that most test files open: small, of real runs, with something for every view. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { BUILD, once, record, recordPython, report, venturi } from "./tool";

/* Two threads that call the same functions, one that calls itself, a library, and something that takes long enough to be read twice. */
const CALLS = `
import json, sys, threading, time

def descend(depth):
    return 1 if depth == 0 else descend(depth - 1) + leaf(depth)

def leaf(number):
    return sum(range(number * 40))

def encode(number):
    return json.dumps({"number": number, "list": list(range(20))})

def work(rounds):
    for number in range(rounds):
        descend(6)
        encode(number)

def main(rounds):
    threads = [threading.Thread(target=work, args=(rounds * (n + 1),), name="worker %d" % n) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(0.3)

main(ROUNDS)
`;

const LINES = `
@profile
def collatz(limit):
    longest = 0
    for start in range(1, limit):
        number = start
        steps = 0
        while number != 1:
            if number % 2:
                number = 3 * number + 1
            else:
                number //= 2
            steps += 1
        longest = max(longest, steps)
    return longest

@profile
def pairs(limit):
    return [(a, b) for a in range(limit) for b in range(limit)]

collatz(150)
pairs(40)
`;

export function calls(): string {
  return recordPython("calls", CALLS.replace("ROUNDS", "150"));
}

/* The same program with more to do and a function of another name. */
export function callsLater(): string {
  return recordPython("later", CALLS.replace("ROUNDS", "250").replaceAll("encode(", "write("));
}

export function lines(): string {
  return recordPython("lines", LINES, "-l");
}

/* Spans, counters, marks and errors of three threads. */
export function spans(): string {
  return record("spans", "--", join(BUILD, "examples/pipeline"), "400");
}

/* All of them on one time line. */
export function full(): string {
  return once("full.vt", (path) => venturi("merge", calls(), lines(), spans(), "-o", path));
}

export function fullPage(): string {
  return report(full());
}

export function diffPage(): string {
  return once("diff.html", (path) => venturi("diff", calls(), callsLater(), "-o", path));
}

/* make_big writes recordings of any size; it is built with the benchmarks. */
export const MAKE_BIG = join(BUILD, "bench/make_big");
export const hasMakeBig = existsSync(MAKE_BIG);
