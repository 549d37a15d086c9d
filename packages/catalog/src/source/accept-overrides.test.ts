import { expect, test } from "vitest";
import { entriesMax } from "../import/convert-import.ts";
import { addOverrides } from "./accept-overrides.ts";

test("too many overrides are refused before any of them is read", () => {
  let reads = 0;
  const one = {
    ...{ name: "", class: "read", description: "" },
    get match() {
      reads++;
      return "a*";
    },
  };
  const given = Array.from({ length: entriesMax + 1 }, () => one);
  expect(() => addOverrides("{}", given, () => true)).toThrow(`${entriesMax + 1} overrides`);
  expect(reads).toBe(0);
});
