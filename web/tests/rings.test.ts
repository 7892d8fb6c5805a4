import { describe, expect, it } from "vitest";
import { angleOf, MOST_RINGS, placeInRings, radiiOf, ringsOf } from "../src/model/rings";

describe("rings", () => {
  const rings = ringsOf(400, 300, 2, 40, { from: 0.5, to: 0.75 });

  it("fit, at most ten of them", () => {
    expect(radiiOf(rings, 2)).toEqual({ inner: 0, outer: rings.hole });
    expect(radiiOf(rings, 2 + MOST_RINGS).outer).toBeCloseTo(150 - 8, 9);
  });

  it("find what lies at a point", () => {
    expect(placeInRings(rings, 200, 150).depth).toBe(2);
    for (const depth of [3, 7, 12])
      for (const at of [0.51, 0.6, 0.74]) {
        const angle = angleOf(rings, at);
        const { inner, outer } = radiiOf(rings, depth);
        const radius = (inner + outer) / 2;
        const found = placeInRings(
          rings,
          rings.x + radius * Math.sin(angle),
          rings.y - radius * Math.cos(angle),
        );
        expect(found.depth).toBe(depth);
        expect(found.at).toBeCloseTo(at, 9);
      }
  });

  it("begin at the top and keep what is outside of the window at its edge", () => {
    expect(angleOf(rings, 0.5)).toBe(0);
    expect(angleOf(rings, 0.1)).toBe(0);
    expect(angleOf(rings, 0.9)).toBe(2 * Math.PI);
  });
});
