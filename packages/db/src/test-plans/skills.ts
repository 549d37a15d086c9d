import type { Executor } from "../connect.ts";
import { skillsForProject } from "../skills/repo.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededId } from "./seed.ts";

const projectId = seededId("prj", 1);
const added = {
  ...{ slug: "new", description: "", jobId: seededId("job", 2), programDigest: Buffer.alloc(32), inputSchema: "{}" },
  createdAt: nowMs,
  newest: 0,
  accessClass: "read",
} as const;

/** Promotes a program to a new skill of a project with thousands. */
function add(db: Executor) {
  const event = () => ({ type: "promoted", stepId: "", payload: "{}", principalChain: null });
  return skillsForProject(db, projectId).add(added, event, { skills: 1_000_000, versions: 1_000 });
}

/** Skills, as they are promoted and deleted. */
export const skillPlans: readonly Plan[] = [
  {
    name: "the numbers of a skill's versions",
    words: `select "version", "deleted_at"`,
    run: add,
    reads: { skills: "skills_key(project_id, slug)" },
  },
  {
    name: "how many skills a project has",
    words: "select count(distinct",
    run: add,
    reads: { skills: "skills_key(project_id)" },
  },
  { name: "add a version of a skill", words: `insert into "skills"`, run: add, reads: {} },
  {
    name: "delete a skill",
    words: `update "skills"`,
    run: (db) => skillsForProject(db, projectId).delete({ slug: "skill_1", version: 0 }, nowMs),
    reads: { skills: "skills_key(project_id, slug)" },
  },
  {
    name: "delete a version of a skill",
    words: `update "skills"`,
    run: (db) => skillsForProject(db, projectId).delete({ slug: "skill_1", version: 1 }, nowMs),
    reads: { skills: "skills_key(project_id, slug, version)" },
  },
];
