import { createId, type ProjectId, type Quotas } from "@svc/core";
import { createTestClock } from "@svc/testing/clock";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { createPostQuotas } from "./post-quotas.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

let projects = 0;
const newReceiver = (quotas: Quotas): { projectId: ProjectId; quotas: Quotas } => ({
  projectId: createId("prj", ++projects),
  quotas,
});

test("a post is refused when every receiver is over, and then nobody is charged", () => {
  const clock = createTestClock();
  const quotas = createPostQuotas({ db, clock });
  const [a, b] = [newReceiver({ posts: 2 }), newReceiver({ posts: 4 })];
  for (let n = 0; n < 4; n++) expect(quotas.admit([a, b])).toBeUndefined();
  const refusal = quotas.admit([a, b]);
  expect(refusal?.fault).toMatchObject({ code: "resource_exhausted", retryAfterMs: 1_000 });
  expect(refusal?.fault.details[0]?.reason).toBe("QUOTA_POSTS");
  expect(quotas.loadOf(b.projectId)).toMatchObject({ postsTotal: 4, postsBeyond: 0 });
  expect(quotas.loadOf(a.projectId)).toMatchObject({ postsTotal: 4, postsBeyond: 2 });
});

test("who received beyond its rate owes it, and waits longer when it is alone", () => {
  const clock = createTestClock();
  const quotas = createPostQuotas({ db, clock });
  const [a, b] = [newReceiver({ posts: 2 }), newReceiver({})];
  for (let n = 0; n < 50; n++) expect(quotas.admit([a, b])).toBeUndefined();
  clock.advance(1_000);
  expect(quotas.admit([a])).toBeDefined();
  clock.advance(500);
  expect(quotas.admit([a])).toBeUndefined();
});

test("of several reasons the one that is over soonest is told", () => {
  const clock = createTestClock();
  const quotas = createPostQuotas({ db, clock });
  const [a, b] = [newReceiver({ posts: 1 }), newReceiver({ posts: 1 })];
  quotas.admit([a, b]);
  expect(quotas.admit([a, b])?.fault.retryAfterMs).toBe(1_000);
});

test("a post that nobody receives is nobody's quota's business", () => {
  const quotas = createPostQuotas({ db, clock: createTestClock() });
  expect(quotas.admit([])).toBeUndefined();
});
