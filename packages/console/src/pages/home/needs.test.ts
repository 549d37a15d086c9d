import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { GetBacklogResponseSchema } from "@svc/gen/stats";
import { expect, test } from "vitest";
import { ageWords, needsOf } from "./needs.ts";

const now = Date.UTC(2026, 2, 4, 15);

test("what needs a person is counted, the most urgent first, and nothing else is there", () => {
  const backlog = create(GetBacklogResponseSchema, {
    pendingAsks: 2,
    oldestAskAt: timestampFromMs(now - 3 * 3_600_000),
    failingSubscriptions: 1,
    deadLetters: 10_000,
  });
  expect(needsOf(backlog, undefined, now).map(({ title, age, action }) => [title, age, action])).toEqual([
    ["2 questions waiting", "3 h", "Answer"],
    ["1 endpoint failing", "", "See why"],
    ["10,000 and more deliveries failed for good in the last 24 hours", "", "Resend"],
  ]);
  expect(needsOf(create(GetBacklogResponseSchema), undefined, now)).toEqual([]);
});

test("who has the administrator's seat is told of the quarantine", () => {
  const backlog = create(GetBacklogResponseSchema);
  expect(needsOf(backlog, { count: 1, more: false }, now)[0]?.title).toBe("1 post is in quarantine");
  expect(needsOf(backlog, { count: 100, more: true }, now)[0]?.title).toBe("100 and more posts are in quarantine");
});

test("ages are read from their upper ends, the last from the one before", () => {
  const ages = [{ belowSeconds: 60 }, { belowSeconds: 3_600 }, { belowSeconds: 0 }];
  expect(ages.map((_, place) => ageWords(ages, place))).toEqual(["under 1 min", "under 1 h", "1 h and more"]);
});
