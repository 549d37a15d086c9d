import { expect, test } from "vitest";
import { isStorable, readJson } from "./read-json.ts";

const isKept = (text: string) => isStorable(readJson(`{"a":[${text}]}`)?.value);

test("a number is stored as it is, or refused where the store could not hold it", () => {
  for (const number of ["0.1234567890123456789", "1e-400", "1e400", "-0", "1E999", "9".repeat(1_000), "1e0000999"])
    expect(isKept(number), number).toBe(true);
  for (const number of ["1e1000", "1e-1000", "1e999999", "-1E+0001000", "9".repeat(1_001), `0.${"1".repeat(1_000)}`])
    expect(isKept(number), number).toBe(false);
});
