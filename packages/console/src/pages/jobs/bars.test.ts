import fc from "fast-check";
import { expect, test } from "vitest";
import { placeBars } from "./bars.ts";

test("two steps behind each other share the track by how long they ran", () => {
  const bars = placeBars(
    [
      { id: "a", from: 0, to: 100 },
      { id: "b", from: 100, to: 200 },
    ],
    200,
  );
  expect(bars.get("a")).toEqual({ left: 0, width: 50 });
  expect(bars.get("b")).toEqual({ left: 50, width: 50 });
});

test("a wait of days leaves what ran before and after it visible", () => {
  const bars = placeBars(
    [
      { id: "a", from: 0, to: 100 },
      { id: "b", from: 400_000_000, to: undefined },
    ],
    400_000_100,
  );
  expect(bars.get("a")?.width).toBeGreaterThan(40);
  expect(bars.get("b")?.width).toBeGreaterThan(40);
});

test("every bar is on the track and can be seen", () => {
  const span = fc.record({
    id: fc.uuid(),
    from: fc.nat(1_000_000),
    to: fc.option(fc.nat(1_000_000), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(span), (spans) => {
      for (const { left, width } of placeBars(spans, 1_000_000).values()) {
        expect(left).toBeGreaterThanOrEqual(0);
        expect(width).toBeGreaterThanOrEqual(1);
        expect(left + width).toBeLessThanOrEqual(100.001);
      }
    }),
  );
});
