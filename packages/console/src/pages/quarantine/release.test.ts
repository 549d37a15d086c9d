import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { QuarantineReleaseSchema, type ReleaseQuarantinedPostsRequestSchema } from "@svc/gen/admin";
import { expect, test } from "vitest";
import { type ReleaseTally, releasePages } from "./release.ts";

const result = (outcome: string, reason = "") => create(QuarantineReleaseSchema, { outcome, reason });
const pages = [[result("released"), result("quarantined", "no_trigger")], [result("released")], [result("ignored")]];

/** Runs a release over the pages and stops it after `stopAfter` pages. */
async function run(stopAfter: number) {
  const sent: MessageInitShape<typeof ReleaseQuarantinedPostsRequestSchema>[] = [];
  const tallies: ReleaseTally[] = [];
  await releasePages(
    { toolkitSlug: "calendar", untilMs: 1_000 },
    {
      isDryRun: true,
      send: async (request) => {
        sent.push(request);
        const at = Number(request.pageToken || "0");
        return { results: pages[at] ?? [], nextPageToken: at + 1 < pages.length ? String(at + 1) : "" };
      },
      onPage: (tally) => void tallies.push(tally),
      isStopped: () => tallies.length >= stopAfter,
    },
  );
  return { sent, tallies };
}

test("a release goes on page after page, and tells after each what became of all so far", async () => {
  const { sent, tallies } = await run(99);
  expect(sent.map(({ pageToken, dryRun }) => [pageToken, dryRun])).toEqual([
    ["", true],
    ["1", true],
    ["2", true],
  ]);
  expect(tallies.map(({ tried }) => tried)).toEqual([2, 3, 4]);
  expect(tallies.at(-1)).toEqual({
    tried: 4,
    outcomes: { released: 2, quarantined: 1, ignored: 1 },
    stays: ["no_trigger"],
  });
});

test("one that is stopped ends behind its page", async () => {
  expect((await run(1)).sent).toHaveLength(1);
});
