import { timestampMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { auditSearch } from "./filters.ts";

const { isFiltered, noFilters, read, request } = auditSearch;

test("an address narrows the audit log by all that it names, and is the same request for a minute", () => {
  const search = read({ project: "prj_1", who: "key_1", action: "A.B", range: "1h", other: "x" });
  const at = 1_800_000_000_000;
  expect(request(search, at + 59_000)).toEqual(request(search, at));
  const { since, ...rest } = request(search, at);
  expect(rest).toEqual({ pageSize: 200, projectId: "prj_1", actor: "key_1", action: "A.B" });
  expect(since !== undefined && timestampMs(since as never)).toBe(at - 3_600_000);
});

test("filters are taken away together", () => {
  expect(isFiltered(read({}))).toBe(false);
  for (const name of ["project", "who", "action"]) {
    const filtered = read({ [name]: "x", since: "2026-03-14T09:00:00Z" });
    expect(isFiltered(filtered)).toBe(true);
    expect(isFiltered({ ...filtered, ...noFilters })).toBe(false);
  }
});
