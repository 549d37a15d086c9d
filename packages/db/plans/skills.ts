import type { Executor } from "../src/connect.ts";
import { skillsForProject } from "../src/skills/repo.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);
const added = {
  ...{ slug: "new", description: "", jobId: seededId("job", 2), programDigest: Buffer.alloc(32), inputSchema: "{}" },
  createdAt: nowMs,
  newest: 0,
  accessClass: "read",
} as const;

/**
 * For a recorded query plan: adds a version to a skill (a program that is used as a tool), in a project that already has thousands of
 * skills.
 */
function add(db: Executor) {
  const event = () => ({ type: "promoted", stepId: "", payload: "{}", principalChain: null });
  return skillsForProject(db, projectId).add(added, event, { skills: 1_000_000, versions: 1_000 });
}

// Recorded query plans of statements that promote and delete skills.
plan("add a version of a skill", add);
plan("delete a skill", (db) => skillsForProject(db, projectId).delete({ slug: "skill_1", version: 0 }, nowMs));
plan("delete a version of a skill", (db) =>
  skillsForProject(db, projectId).delete({ slug: "skill_1", version: 1 }, nowMs),
);
