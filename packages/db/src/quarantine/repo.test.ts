import { createId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeEach, expect, test } from "vitest";
import { nowMs } from "../test-rows.ts";
import { findQuarantinedIds, listHeldQuarantinedPosts } from "./list.ts";
import {
  findQuarantinedPost,
  markQuarantinedPostReleased,
  noteQuarantinedPost,
  putQuarantinedPosts,
  type QuarantinedPost,
} from "./repo.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);
beforeEach(() => db.sql`truncate quarantined_posts`);

function newPost(atMs: number, changes: Partial<QuarantinedPost> = {}): QuarantinedPost {
  return {
    id: createId("qrn", atMs),
    toolkitSlug: "code_host",
    reason: "no_trigger",
    detail: "why",
    headers: { "x-a": "ü \"\\' {}" },
    query: {},
    envelope: Buffer.from([2, 0]),
    body: Buffer.from([0, 1, 255]),
    bodyBytes: 3,
    receivedAt: atMs,
    releasedAt: null,
    projectId: null,
    ...changes,
  };
}

test("a post comes back as it was put", async () => {
  const post = newPost(nowMs);
  await putQuarantinedPosts(db, [post, newPost(nowMs)]);
  await putQuarantinedPosts(db, []);
  expect(await findQuarantinedPost(db, post.id, undefined)).toEqual(post);
  expect(await findQuarantinedPost(db, createId("qrn", 0), undefined)).toBeUndefined();
});

test("a post is marked released once, and may be put back with a new reason", async () => {
  const post = newPost(nowMs);
  await putQuarantinedPosts(db, [post]);
  const marks = await Promise.all([1, 2, 3].map(() => markQuarantinedPostReleased(db, post.id, nowMs + 5)));
  expect(marks.sort()).toEqual([false, false, true]);
  expect((await findQuarantinedPost(db, post.id, undefined))?.releasedAt).toBe(nowMs + 5);
  await noteQuarantinedPost(db, post.id, { reason: "no_project", detail: "later" });
  expect(await findQuarantinedPost(db, post.id, undefined)).toEqual({ ...post, reason: "no_project", detail: "later" });
});

test("held posts are listed from the oldest, by toolkit and time; named ones also when they were released", async () => {
  const posts = [0, 1, 2, 3].map((offset) => newPost(nowMs + offset, offset === 2 ? { toolkitSlug: "payments" } : {}));
  const [first, second, payment, released] = posts as [
    QuarantinedPost,
    QuarantinedPost,
    QuarantinedPost,
    QuarantinedPost,
  ];
  await putQuarantinedPosts(db, posts);
  await markQuarantinedPostReleased(db, released.id, nowMs);
  const all = { owner: undefined, toolkitSlug: "", sinceMs: undefined, untilMs: undefined };
  const page = { after: undefined, limit: 10 };
  expect(await listHeldQuarantinedPosts(db, all, page)).toEqual([first.id, second.id, payment.id]);
  expect(await listHeldQuarantinedPosts(db, all, { after: first.id, limit: 1 })).toEqual([second.id]);
  expect(await listHeldQuarantinedPosts(db, { ...all, toolkitSlug: "payments" }, page)).toEqual([payment.id]);
  expect(await listHeldQuarantinedPosts(db, { ...all, sinceMs: nowMs + 1, untilMs: nowMs + 2 }, page)).toEqual([
    second.id,
  ]);
  const named = [released.id, createId("qrn", 0), payment.id];
  expect(await findQuarantinedIds(db, { ...all, toolkitSlug: "payments" }, named)).toEqual([
    { id: payment.id, matches: true },
    { id: released.id, matches: false },
  ]);
});
