import fc from "fast-check";
import { expect, test } from "vitest";
import { oneOfParam, parseSearch, searchReader, stringifySearch, textParam } from "./search-params.ts";

const read = searchReader({ toolkit: textParam, range: oneOfParam(["1h", "24h"]) });

test("any texts come back from the address as they were", () => {
  const names = fc.string({ minLength: 1 }).filter((name) => name !== "__proto__");
  fc.assert(
    fc.property(fc.dictionary(names, fc.string()), (search) => {
      expect(parseSearch(stringifySearch(search))).toEqual({ ...search });
    }),
  );
});

test("whatever stands in the address, a page reads what it knows and nothing else", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const search = read(parseSearch(text));
      expect(Object.keys(search).every((name) => ["toolkit", "range"].includes(name))).toBe(true);
    }),
  );
  expect(read({ toolkit: "calendar", range: "2y", other: "x" })).toEqual({ toolkit: "calendar" });
});

test("colons of times and slashes stay readable", () => {
  expect(stringifySearch({ since: "2026-01-02T03:04:05Z", open: undefined })).toBe("?since=2026-01-02T03:04:05Z");
});
