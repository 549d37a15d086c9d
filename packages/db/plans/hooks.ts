import type { Executor } from "../src/connect.ts";
import {
  findHookAnswersOfKey,
  listHookAnswers,
  putHookAnswers,
  releaseHookAnswers,
  sweepHookAnswers,
} from "../src/hooks/answers.ts";
import { callHooksForProject, findCallHooks } from "../src/hooks/repo.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededAt, seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);
const callId = seededId("call", 7);
const hookId = seededId("hok", 7);

/**
 * Creates a hook (a URL that svc asks about tool calls), so that the query plans of the statements are recorded. The project already has
 * thousands of hooks, so that the plans are those of a large table.
 */
function create(db: Executor) {
  const hook = { id: seededId("hok", 500_000), endpointUrl: "", signingSecret: Buffer.alloc(1), position: 0 };
  const asked = { phase: "before", toolkitSlugs: [], accessClasses: [], isActive: true, createdAt: nowMs } as const;
  return callHooksForProject(db, projectId).create(
    { ...hook, ...asked, toolkitSlugs: [], accessClasses: [] },
    1_000_000,
  );
}

// Recorded query plans of statements on hooks and their decisions.
plan("find_call_hooks", (db) => findCallHooks(db, [projectId, seededId("prj", 9)]));
plan("the hooks of a project", (db) => callHooksForProject(db, seededId("prj", 9)).list());
plan("make a hook", create);
plan("a hook of which nothing is changed", (db) => callHooksForProject(db, projectId).update(hookId, {}));
plan("change a hook", (db) => callHooksForProject(db, projectId).update(hookId, { isActive: false }));
plan("delete a hook", (db) => callHooksForProject(db, projectId).delete(hookId));
plan("what hooks said of a call by its key", (db) => findHookAnswersOfKey(db, projectId, "k7"));
plan("what hooks said binds no longer", (db) => releaseHookAnswers(db, { projectId, callKey: "k7", beforeMs: nowMs }));
plan("what hooks said of a call", (db) => listHookAnswers(db, projectId, callId));
plan("keep what hooks said", (db) =>
  putHookAnswers(db, [
    {
      ...{ projectId, callId: seededId("call", 900_000), hookId, entityId: "", callKey: null },
      ...{ decision: "allow", edit: null, durationMs: 1, askedAt: nowMs },
    },
  ]),
);
plan("sweep_hook_answers", (db) => sweepHookAnswers(db, seededAt(500), 100));
