"""A classification step: 1,000 alerts, each with a science and a template image stamp. 15 stamps have the wrong shape; of the
985 that are left, 15 look as if their host galaxy were missing, and only these are worth the costly power spectrum.

    venturi run -l examples/alerts.py      which line is it that takes the time?
"""
import cmath
import functools
import random
import zlib

try:
    profile
except NameError:  # not under a line profiler
    def profile(function):
        return function

SHAPE = (63, 63)
NOT_CLASSIFIED = -99.0


class Stamp:
    """An image of one byte a pixel."""

    def __init__(self, shape, pixels):
        self.shape = shape
        self.pixels = pixels

    def brightest(self):
        """Of the rows in the middle."""
        return max(max(self.row(number)) for number in range(self.shape[0] // 2 - 4, self.shape[0] // 2 + 5))

    def row(self, number):
        return self.pixels[number * self.shape[1]:(number + 1) * self.shape[1]]


def pack(shape, pixels):
    return {"shape": shape, "stampData": zlib.compress(bytes(pixels), 1)}


def read_stamp(packed):
    return Stamp(packed["shape"], zlib.decompress(packed["stampData"]))


def make_alerts(count=1000, wrong=15, hostless=15):
    """Noise with a source in its middle; the template of a hostless one has none."""
    generator = random.Random(4)
    special = generator.sample(range(count), wrong + hostless)
    noise = [bytes(generator.choices(range(90, 111), k=SHAPE[0] * SHAPE[1])) for _ in range(8)]
    middle = SHAPE[0] // 2 * SHAPE[1] + SHAPE[1] // 2
    for number in range(count):
        science, template = bytearray(noise[number % 8]), bytearray(noise[(number + 3) % 8])
        science[middle] = 250
        if number not in special[wrong:]:
            template[middle] = 240
        shape = (SHAPE[0] - 1, SHAPE[1]) if number in special[:wrong] else SHAPE
        size = shape[0] * shape[1]
        yield {"objectId": "ZTF%05d" % number, "cutoutScience": pack(shape, science[:size]),
               "cutoutTemplate": pack(shape, template[:size])}


def looks_hostless(science, template, limit, shape):
    """Something is there that was not there before."""
    return science.shape == shape and science.brightest() - template.brightest() > limit


def power_spectrum(science, template, science_mask, template_mask, shape):
    """Power of the rows at each frequency; slow on purpose, as the real one is."""
    powers = [[0.0, 0.0] for _ in range(shape[1] // 2)]
    for which, (stamp, mask) in enumerate(((science, science_mask), (template, template_mask))):
        for row in range(shape[0]):
            values = [0 if masked else value for value, masked in zip(stamp.row(row), mask[row])]
            for frequency in range(1, shape[1] // 2):
                turn = cmath.exp(-2j * cmath.pi * frequency / shape[1])
                wave, total = 1, 0
                for value in values:
                    total += value * wave
                    wave *= turn
                powers[frequency][which] += abs(total) ** 2
    return {"statistic": max(abs(one - other) for one, other in powers) / sum(one for one, _ in powers)}


class Clipped(Stamp):
    """A stamp of which too bright pixels are masked."""

    def __init__(self, stamp, limit):
        super().__init__(stamp.shape, stamp.pixels)
        self.limit = limit

    def mask(self):
        return [[value > self.limit for value in self.row(row)] for row in range(self.shape[0])]


class Step:
    def __init__(self, limit):
        self.limit = limit
        self.refused = []

    def clip(self, science, template):
        level = sum(science.pixels) / len(science.pixels)
        return Clipped(science, level + 100), Clipped(template, level + 100)

    @profile
    def process(self, science, template, name):
        """
        Classifies one alert.

        The statistic of its power spectrum, if it is a candidate.
        """
        science = read_stamp(science)
        template = read_stamp(template)
        if not ((science.shape == SHAPE) and (template.shape == SHAPE)):
            self.refused.append(name)
            return NOT_CLASSIFIED
        science_clipped, template_clipped = (
            self.clip(science, template))
        is_candidate = looks_hostless(
            science_clipped, template_clipped,
            self.limit, SHAPE)
        if is_candidate:
            results = power_spectrum(
                science, template,
                science_clipped.mask(),
                template_clipped.mask(), SHAPE)
            return results["statistic"]
        return NOT_CLASSIFIED


def as_column(function):
    """Stands for the decorator with which a cluster gets hold of a function; here it is in the way."""
    @functools.wraps(function)
    def run(*args):
        raise RuntimeError("this needs a cluster")
    return run


@as_column
@profile
def classify(step, alerts):
    results = []
    for alert in alerts:
        results.append(step.process(alert["cutoutScience"],
                                    alert["cutoutTemplate"],
                                    alert["objectId"]))
    return results


def main():
    step = Step(limit=60)
    results = classify.__wrapped__(step, list(make_alerts()))
    print("%d alerts, %d of another shape, %d classified" %
          (len(results), len(step.refused), sum(result >= 0 for result in results)))


if __name__ == "__main__":
    main()
