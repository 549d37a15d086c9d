import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { addProject, nowMs } from "../test-rows.ts";
import { privateToolkitsForProject } from "./repo.ts";
import { toolkitSourcesForProject } from "./sources.ts";
import {
  claimSource,
  countSourcesWithChanges,
  hastenSource,
  listDueSources,
  type SourceKey,
  settleSource,
} from "./watched-sources.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const [minute, hour] = [60_000, 3_600_000];

/** Adds a project with a source that is due at `nextAt`; null for a source that svc does not read by itself. */
async function addSource(nextAt: number | null): Promise<SourceKey> {
  const [projectId, slug] = [await addProject(db), "tracker"];
  const toolkit = { slug, definition: "{}", originDigest: Buffer.alloc(32), toolCount: 1, updatedAt: nowMs };
  const read = { digest: Buffer.alloc(32), options: "{}", refreshedAt: nowMs, nextAt, listingAccountId: null };
  const source = { kind: "mcp", origin: "https://mcp.example.com", ...read } as const;
  await privateToolkitsForProject(db, projectId).put(toolkit, { mustBeNew: false, source: { kind: "put", source } });
  return { projectId, slug };
}

const dueAt = async (ms: number) => (await listDueSources(db, ms, 100)).map(({ projectId }) => projectId);
const leaseOf = (key: SourceKey, ms: number) => ({ ...key, leaseUntilMs: ms + minute });

test("a source is due at its time, one node at a time reads it, and a lost lease expires", async () => {
  const key = await addSource(nowMs + hour);
  const never = await addSource(null);
  expect(await dueAt(nowMs + hour - 1)).not.toContain(key.projectId);
  const at = nowMs + hour;
  expect(await dueAt(at)).toContain(key.projectId);
  expect(await dueAt(at)).not.toContain(never.projectId);
  expect(await claimSource(db, leaseOf(never, at), at)).toBe(false);
  const claims = await Promise.all([1, 2, 3].map((later) => claimSource(db, leaseOf(key, at + later), at)));
  expect(claims.filter(Boolean)).toHaveLength(1);
  expect(await dueAt(at + minute / 2)).not.toContain(key.projectId);
  // The node with the lease has ended without a word.
  expect(await dueAt(at + 2 * minute)).toContain(key.projectId);
  expect(await claimSource(db, leaseOf(key, at + 2 * minute), at + 2 * minute)).toBe(true);
  await settleSource(db, leaseOf(key, at + 1), { nextAt: at + 9 * hour, pauseUntil: at });
  const settled = { nextAt: at + 6 * hour, pauseUntil: at + 7 * minute };
  await settleSource(db, leaseOf(key, at + 2 * minute), settled);
  expect(await dueAt(at + 6 * hour - 1)).not.toContain(key.projectId);
  expect(await dueAt(at + 6 * hour)).toContain(key.projectId);
});

test("a source that is hastened is due after the pause of its last read, not earlier", async () => {
  const [key, never] = [await addSource(nowMs), await addSource(null)];
  await claimSource(db, leaseOf(key, nowMs), nowMs);
  await settleSource(db, leaseOf(key, nowMs), { nextAt: nowMs + 6 * hour, pauseUntil: nowMs + 5 * minute });
  for (const one of [key, never]) await hastenSource(db, one, nowMs + minute);
  expect(await dueAt(nowMs + 5 * minute - 1)).not.toContain(key.projectId);
  expect(await dueAt(nowMs + 5 * minute)).toContain(key.projectId);
  expect(await dueAt(nowMs + 5 * minute)).not.toContain(never.projectId);
});

test("sources with waiting changes are counted up to a maximum", async () => {
  const before = await countSourcesWithChanges(db, 100);
  for (const key of [await addSource(null), await addSource(null)]) {
    const sources = toolkitSourcesForProject(db, key.projectId);
    const source = await sources.find(key.slug);
    const waiting = { changes: "[]", changesDigest: Buffer.alloc(32), changesCount: 3, nextDefinition: "{ }" };
    if (source !== undefined) await sources.refresh(source, { ...source, definition: "{}", waiting });
  }
  expect(await countSourcesWithChanges(db, 100)).toBe(before + 2);
  expect(await countSourcesWithChanges(db, before + 1)).toBe(before + 1);
});
