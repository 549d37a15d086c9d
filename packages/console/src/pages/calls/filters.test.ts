import { timestampMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { callsSearch } from "./filters.ts";

const { isFiltered, noFilters, read, request } = callsSearch;

test("an address narrows the ledger by all that it names, and is the same request for a minute", () => {
  const search = read({
    tool: "a.b",
    entity: "ada",
    outcome: "held",
    job: "job_1",
    range: "1h",
    open: "call_1",
  });
  const at = 1_800_000_000_000;
  expect(request(search, at + 59_000)).toEqual(request(search, at));
  const { since, ...rest } = request(search, at);
  expect(rest).toMatchObject({ toolSlug: "a.b", entityId: "ada", outcome: "held", jobId: "job_1" });
  expect(since !== undefined && timestampMs(since as never)).toBe(at - 3_600_000);
});

test("what is open filters nothing, and filters are taken away together", () => {
  expect(isFiltered(read({ open: "call_1", live: "off", outcome: "none" }))).toBe(false);
  const filtered = read({ account: "acc_1" });
  expect(isFiltered(filtered)).toBe(true);
  expect(isFiltered({ ...filtered, ...noFilters })).toBe(false);
});
