import { expect, test } from "vitest";
import { blocksOf, dimensionBounds, likenessesOf, type Vector, vectorOf } from "./vectors.ts";

/** Returns a vector of numbers from -128 to 127, with many at the ends. The same seed always gives the same vector. */
function vectorAt(size: number, seed: number): Vector {
  let state = seed + 1;
  const next = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state;
  };
  return vectorOf(Int8Array.from({ length: size }, () => [-128, 127, (next() % 256) - 128][next() % 3] ?? 0));
}

function likeness(a: Vector, b: Vector): number {
  return a.parts.reduce((sum, part, at) => sum + part * (b.parts[at] ?? 0), 0) / (a.length * b.length);
}

test.each([
  [2, 3],
  [7, 1],
  [8, 200],
  [13, 2_500],
  [384, 200],
  [1_536, 700],
  [dimensionBounds.max, 300],
])("of %d numbers, %d vectors are as near as they are number by number", (size, count) => {
  const vectors = Array.from({ length: count }, (_, seed) => vectorAt(size, seed));
  const query = vectorAt(size, 99_991);
  const expected = vectors.map((vector) => likeness(query, vector));
  expect([...likenessesOf(query, blocksOf(vectors))]).toEqual(expected);
  // The shorter query is compared without the leftover numbers of the longer one before.
  const short = vectorAt(2, 5);
  expect([...likenessesOf(short, blocksOf([short]))][0]).toBeCloseTo(1, 12);
});

test("tools without a vector, or with one of another size, have no similarity", () => {
  const [of, other] = [vectorAt(16, 1), vectorAt(24, 2)];
  expect([...likenessesOf(of, blocksOf([undefined, of, other, of, undefined]))]).toEqual([
    Number.NaN,
    expect.closeTo(1, 12),
    Number.NaN,
    expect.closeTo(1, 12),
    Number.NaN,
  ]);
  expect([...likenessesOf(of, blocksOf([]))]).toEqual([]);
});
