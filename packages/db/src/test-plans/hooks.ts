import type { Executor } from "../connect.ts";
import {
  findHookAnswersOfKey,
  listHookAnswers,
  putHookAnswers,
  releaseHookAnswers,
  sweepHookAnswers,
} from "../hooks/answers.ts";
import { findCallHooks } from "../hooks/find.ts";
import { callHooksForProject } from "../hooks/repo.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededAt, seededId } from "./seed.ts";

const projectId = seededId("prj", 1);
const callId = seededId("call", 7);
const hookId = seededId("hok", 7);
const byId = ["call_hooks_project(project_id, id)", "call_hooks_pkey(id)"];

/** Makes a hook of a project with thousands. */
function create(db: Executor) {
  const hook = { id: seededId("hok", 500_000), endpointUrl: "", signingSecret: Buffer.alloc(1), position: 0 };
  const asked = { phase: "before", toolkitSlugs: [], accessClasses: [], isActive: true, createdAt: nowMs } as const;
  return callHooksForProject(db, projectId).create(
    { ...hook, ...asked, toolkitSlugs: [], accessClasses: [] },
    1_000_000,
  );
}

/** Hooks, and what they said. */
export const hookPlans: readonly Plan[] = [
  {
    name: "find_call_hooks",
    run: (db) => findCallHooks(db, [projectId, seededId("prj", 9)]),
    reads: { call_hooks: "call_hooks_project(project_id)" },
  },
  {
    name: "the hooks of a project",
    run: (db) => callHooksForProject(db, seededId("prj", 9)).list(),
    reads: { call_hooks: "call_hooks_project(project_id)" },
  },
  {
    name: "hold a project for a new hook",
    words: `from "projects"`,
    run: create,
    reads: { projects: "projects_pkey(id)" },
  },
  {
    name: "how many hooks a project has",
    words: "select count(*)",
    run: create,
    reads: { call_hooks: "call_hooks_project(project_id)" },
  },
  { name: "make a hook", words: `insert into "call_hooks"`, run: create, reads: {} },
  {
    name: "a hook of which nothing is changed",
    run: (db) => callHooksForProject(db, projectId).update(hookId, {}),
    reads: { call_hooks: byId },
  },
  {
    name: "change a hook",
    run: (db) => callHooksForProject(db, projectId).update(hookId, { isActive: false }),
    reads: { call_hooks: byId },
  },
  {
    name: "delete a hook",
    run: (db) => callHooksForProject(db, projectId).delete(hookId),
    reads: { call_hooks: byId },
  },
  {
    name: "what hooks said of a call by its key",
    run: (db) => findHookAnswersOfKey(db, projectId, "k7"),
    reads: { hook_answers: "hook_answers_key(project_id, call_key)" },
  },
  {
    name: "what hooks said binds no longer",
    run: (db) => releaseHookAnswers(db, { projectId, callKey: "k7", beforeMs: nowMs }),
    reads: { hook_answers: "hook_answers_key(project_id, call_key)" },
  },
  {
    name: "what hooks said of a call",
    run: (db) => listHookAnswers(db, projectId, callId),
    reads: { hook_answers: "hook_answers_call(project_id, call_id)" },
  },
  {
    name: "keep what hooks said",
    run: (db) =>
      putHookAnswers(db, [
        {
          ...{ projectId, callId: seededId("call", 900_000), hookId, entityId: "", callKey: null },
          ...{ decision: "allow", edit: null, durationMs: 1, askedAt: nowMs },
        },
      ]),
    reads: {},
  },
  {
    name: "sweep_hook_answers",
    run: (db) => sweepHookAnswers(db, seededAt(500), 100),
    reads: {
      hook_answers: [
        "hook_answers_asked(asked_at)",
        "hook_answers_call(project_id, call_id, hook_id)",
        "hook_answers_key(project_id)",
      ],
    },
  },
];
