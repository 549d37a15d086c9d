import {
  type Clock,
  type ConfirmRule,
  confirmingRule,
  type KeyId,
  keysOfChain,
  LeastRecentlyUsed,
  type ProjectId,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { readConfirmRules } from "@svc/db/projects/plan-policy";
import type { AccessClass } from "@svc/db/schema/words";
import { isConfirmed, worstClassOf } from "../state/confirmed.ts";
import type { JobState } from "../state/job.ts";

/** Decides for jobs at work whether a person is to confirm them before they call. */
export type ConfirmGate = {
  /**
   * Returns the contact who is to confirm a job before it calls a tool of a class, by the rules of its project and of the keys that had a
   * hand in it; undefined if no rule covers the class, or if a person confirmed the job as it is now. Without a class: the highest one
   * of all that its program calls.
   */
  confirmerOf(state: JobState, accessClass?: AccessClass): Promise<string | undefined>;
  /** Forgets the rules of a project or a key, so that a change holds at once; other nodes see it within a second. */
  forget(id: ProjectId | KeyId): void;
};

type Known = { readonly rules: readonly ConfirmRule[]; readonly readAtMs: number };

const freshMs = 1_000;
const knownMax = 10_000;

/** Makes it. */
export function createConfirmGate({ db, clock }: { readonly db: Executor; readonly clock: Clock }): ConfirmGate {
  const known = new LeastRecentlyUsed<string, Known>(knownMax);
  let changes = 0;
  const rulesOf = async (projectId: ProjectId, keyIds: readonly KeyId[]): Promise<readonly ConfirmRule[]> => {
    const name = [projectId, ...keyIds].join(" ");
    const current = known.get(name);
    const readAtMs = clock.now();
    if (current !== undefined && readAtMs - current.readAtMs < freshMs) return current.rules;
    const seen = changes;
    const rules = await readConfirmRules(db, projectId, keyIds);
    // Rules that changed while they were read are not kept.
    if (seen === changes) known.set(name, { rules, readAtMs });
    return rules;
  };
  return {
    async confirmerOf(state, accessClass) {
      const { projectId, keyId, principalChain, plan, isSimulated, isRehearsal, loaded } = state;
      if (isSimulated || isRehearsal || accessClass === "read") return undefined;
      const keyIds = new Set([keyId, ...keysOfChain(principalChain), ...(plan?.changedBy ?? [])]);
      const rules = await rulesOf(projectId, [...keyIds]);
      const rule = rules.length === 0 ? undefined : confirmingRule(rules, accessClass ?? worstClassOf(loaded));
      return rule === undefined || isConfirmed(state) ? undefined : rule.contact;
    },
    forget(id) {
      changes += 1;
      for (const [name] of known.entries()) if (name.includes(id)) known.delete(name);
    },
  };
}
