import { expect, it } from "vitest";
import { makeQuantiles } from "../src/data/quantile";

it("is exact for few values", () => {
  const quantiles = makeQuantiles([5]);
  for (const value of [50, 10, 40, 20, 30]) quantiles.add(0, value);
  expect([0, 0.2, 0.5, 0.9, 1].map((share) => quantiles.quantile(0, share))).toEqual([10, 10, 30, 50, 50]);
});

it("is within a hundredth for many, from nothing to hours", () => {
  const values = Array.from({ length: 10_000 }, (_, i) => Math.round(1.0035 ** i));
  const quantiles = makeQuantiles([0, values.length]);
  values.forEach((value) => quantiles.add(1, value));
  for (const share of [0.01, 0.5, 0.9, 0.99]) {
    const exact = values[Math.ceil(share * values.length) - 1]!;
    expect(Math.abs(quantiles.quantile(1, share) - exact)).toBeLessThanOrEqual(exact * 0.008);
  }
  expect(quantiles.quantile(0, 0.5)).toBe(0);
});
