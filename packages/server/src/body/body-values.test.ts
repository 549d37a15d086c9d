import { systemClock } from "@svc/core";
import { expect, test } from "vitest";
import { bodyBudgetBytes, createBodyBudget } from "./body-budget.ts";
import { chargeValues } from "./body-values.ts";

const mebibyte = 1_048_576;

function chargedOf(body: string, bodyBytesMax = mebibyte): number {
  const budget = createBodyBudget({ clock: systemClock, bytesMax: bodyBudgetBytes(bodyBytesMax) });
  const charge = budget.open("project:one", "192.0.2.1");
  expect(charge.take(body.length)).toBe(true);
  chargeValues(Buffer.from(body), charge);
  return budget.stats().bytes - body.length;
}

test("lists and objects cost far more than other values, in texts as well", () => {
  const few = "x".repeat(5_000);
  expect(chargedOf(few)).toBe(0);
  expect(chargedOf(`${few}{},{}`)).toBe(2 * 120 + 24);
  expect(chargedOf(JSON.stringify({ argumentsJson: `${few}[1,2]` }))).toBe(2 * 120 + 24);
});

test("small bodies are not counted", () => {
  expect(chargedOf("[".repeat(4_095))).toBe(0);
});

test.each([1, 7, 64])("a body of the largest size, %i MiB, has room where it is alone, whatever it holds", (size) => {
  for (const text of ["{},", "[", ","]) {
    const body = text.repeat(size * mebibyte).slice(0, size * mebibyte);
    expect(chargedOf(body, size * mebibyte)).toBeGreaterThan(15 * mebibyte);
  }
});

test.each([12, 16])("a document of %i MiB has room where it is alone, whatever it holds", (size) => {
  for (const text of ["{},", "x", ","]) chargedOf(text.repeat(size * mebibyte).slice(0, size * mebibyte));
});

test("a body without room is refused and its charge is released", () => {
  const budget = createBodyBudget({ clock: systemClock, bytesMax: 300_000 });
  const charge = budget.open("project:one", "192.0.2.1");
  expect(charge.take(10_000)).toBe(true);
  expect(() => chargeValues(Buffer.from("[".repeat(10_000)), charge)).toThrow("too many bytes");
  expect(budget.stats()).toMatchObject({ bytes: 0, refused: { project: 1 } });
});
