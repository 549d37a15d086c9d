import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { readReplaysSearch, replayRequest } from "./filters.ts";

test("a replay ends where its address says, and at the moment of its start where it does not", () => {
  const until = replayRequest(readReplaysSearch({ until: "2026-01-02T03:04:05.000Z" }), 0).until;
  expect(until).toEqual(timestampFromMs(Date.UTC(2026, 0, 2, 3, 4, 5)));
  expect(replayRequest(readReplaysSearch({}), 0)).not.toHaveProperty("until");
});

test("an address says which events are replayed to whom, and a day back is meant where it says no time", () => {
  const now = 1_800_000_000_000;
  expect(
    replayRequest(
      readReplaysSearch({ since: "2026-01-02T03:04:05.000Z", subscription: "sub_1", only: "undelivered" }),
      now,
    ),
  ).toMatchObject({
    since: timestampFromMs(Date.UTC(2026, 0, 2, 3, 4, 5)),
    subscriptionId: "sub_1",
    onlyUndelivered: true,
  });
  expect(replayRequest(readReplaysSearch({ since: "yesterday" }), now)).toMatchObject({
    since: timestampFromMs(now - 86_400_000),
  });
});
