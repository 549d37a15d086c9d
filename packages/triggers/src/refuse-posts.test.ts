import { type Quotas, unlimited } from "@svc/core";
import { setProjectPolicy } from "@svc/db/projects/repo";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { untilMoved } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { createTestCluster, createTestNode, type TestCluster, type TriggerNode } from "./test-node.ts";
import { issuePost } from "./test-posts.ts";

afterAll(dropTestDatabases);

const policy = { planApproval: "never" as const, redirectUrls: [] };

/** Posts two at a time, at the interval at which the stored amount is read, until a post is refused. Returns the refusal. */
async function postUntilRefused({ clock }: TestCluster, { ingest }: TriggerNode): Promise<string> {
  let told = "";
  await untilMoved(async () => {
    clock.advance(5_000);
    for (let n = 0; n < 2 && told === ""; n++) {
      const outcome = await ingest.accept(issuePost());
      if (outcome.outcome === "over_quota") told = outcome.refusal.message;
    }
    return told !== "";
  });
  return told;
}

test("a refused post is counted for each project that was over, by its quota, and the real measure is told", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  const [a, b] = [await cluster.project(), await cluster.project()];
  const set = (of: typeof a, quotas: Quotas) => setProjectPolicy(cluster.db, of, { ...policy, quotas });
  const refusalsOf = (of: typeof a) => Object.fromEntries(node.ingest.quotas.loadOf(of)?.refusals ?? []);
  await set(a, { posts: 1 });
  await set(b, { storedBytes: 1 });
  const message = await postUntilRefused(cluster, node);
  expect(message).toContain("the project is over its quota of posts a second at this node, which is 1");
  expect([refusalsOf(a), refusalsOf(b)]).toEqual([{ posts: 1 }, { storedBytes: 1 }]);
  await set(a, { posts: unlimited, storedBytes: 1 });
  const used = Number(/may have 1 stored byte, and has (\d+)/.exec(await postUntilRefused(cluster, node))?.[1]);
  expect(used).toBeGreaterThan(1);
  expect([refusalsOf(a), refusalsOf(b)]).toEqual([{ posts: 1, storedBytes: 1 }, { storedBytes: 2 }]);
});
