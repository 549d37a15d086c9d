import { call, defineFaults, type FaultText, field, formatValue, text } from "@svc/core";
import { overlapPolicies } from "@svc/db/schema/words";
import { faultsText } from "@svc/program";
import type { StandingFault } from "./definition/faults.ts";

/** Maximum number of problems of a schedule's definition that one error response lists. */
const listedMax = 100;

/**
 * Errors of API calls about standing programs (programs that start jobs on a schedule or event) and their backfills (runs for past times).
 */
export const standingFaults = defineFaults({
  /** The `field` of each fault is `definitionJson` followed by a JSON Pointer to the faulty part. */
  DEFINITION_FAULTY: {
    code: "invalid_argument",
    reason: "DEFINITION_MALFORMED",
    says: (found: readonly StandingFault[], omitted: number) =>
      faultsText({ of: "definitionJson", whole: "the definition", found, omitted }),
    each: (found: readonly StandingFault[]) =>
      found.slice(0, listedMax).map(({ code, pointer, message, hint }) => {
        return { reason: code, field: `definitionJson${pointer}`, help: text`${message}: ${hint}.` };
      }),
  },
  STANDING_SLUG_INVALID: {
    code: "invalid_argument",
    field: "slug",
    says: (slug: string) => `slug ${formatValue(slug)} does not match ^[a-z][a-z0-9_-]{0,62}$`,
    help: "Send a name such as tell-sales.",
  },
  STANDING_SLUG_TAKEN: {
    code: "already_exists",
    field: "slug",
    says: (slug: string) => `slug ${formatValue(slug)} is taken by another standing program of this project`,
    help: text`Choose another name, or make the next version of that program with ${call("UpdateStandingProgram")}.`,
  },
  /** The project has the maximum number of standing programs (schedules). With `triggerSlug`: the maximum number for this trigger. */
  STANDING_PROGRAMS_TOO_MANY: {
    code: "resource_exhausted",
    says: (most: number, triggerSlug?: string) =>
      `the project already has ${most} standing programs${triggerSlug === undefined ? "" : ` of the trigger ${triggerSlug}`}, the maximum`,
    help: text`Delete unused ones with ${call("DeleteStandingProgram")}.`,
  },
  /**
   * The project has no such standing program (which starts jobs on a schedule or event). `field`: the field of the request that names it.
   */
  STANDING_PROGRAM_NOT_FOUND: {
    code: "not_found",
    field: (path: "id" | "standingProgramId") => path,
    says: (_path: "id" | "standingProgramId", id: string) => `the project has no standing program ${formatValue(id)}`,
    help: text`${call("ListStandingPrograms")} lists the existing ones; send the id or the slug.`,
  },
  STANDING_RUN_NOT_FOUND: {
    code: "not_found",
    field: "id",
    says: (id: string) => `the project has no run ${formatValue(id)} of a standing program`,
    help: text`${call("ListStandingRuns")} lists the existing ones; they stay for 30 days after their end.`,
  },
  STANDING_VERSION_STALE: {
    code: "failed_precondition",
    field: "expectedVersion",
    says: (expected: number, version: number) => `the program has version ${version}, but ${expected} was expected`,
    help: text`Read the program with ${call("GetStandingProgram")}, and send the version that your change is based on.`,
  },
  PAUSE_CAUSE_STANDS: {
    code: "failed_precondition",
    field: "id",
    says: (cause: string) => cause,
    help: text`Send ${call("UpdateStandingProgram")} with the same definition, or ${call("ResumeStandingProgram")} with adopt: the program then continues for your key and with the current tools, after its plan was checked, and approved, again.`,
  },
  STANDING_PROGRAM_NOT_ACTIVE: {
    code: "failed_precondition",
    field: "id",
    says: (standing: string) => `the program is ${standing}`,
    help: text`Resume it with ${call("ResumeStandingProgram")} first; a program that has ended needs a new definition.`,
  },
  EVENT_NOT_FOUND: {
    code: "not_found",
    field: "eventId",
    says: (id: string) => `the project has no event ${formatValue(id)} of the program's trigger`,
    help: text`${call("ListEvents")} with its ${field("triggerSlug")} returns the existing ones.`,
  },
  INPUT_MISMATCH: {
    code: "invalid_argument",
    field: "inputJson",
    says: (why: string) => `inputJson: ${why}`,
    help: "Send a JSON object that fits the program's inputSchema, or nothing to use the input of the definition.",
  },
  APPROVER_ROLE_REQUIRED: {
    code: "permission_denied",
    field: "id",
    says: "the plan needs approval, so only an approver's key may run it",
    help: "Call with a key of the role approver.",
  },
  PREVIEW_COUNT_INVALID: {
    code: "invalid_argument",
    field: "count",
    says: (count: number) => `count is ${count}; at most 100 are returned`,
    help: "Send 1 to 100, or 0 for 10.",
  },
  FILTER_REQUIRED: {
    code: "invalid_argument",
    field: "since",
    says: "since must be set",
    help: "Send the first time to start runs for, such as 2026-01-05T00:00:00Z.",
  },
  BACKFILL_RATE_INVALID: {
    code: "invalid_argument",
    field: "perMinute",
    says: (perMinute: number, max: number) => `perMinute is ${perMinute}; 1 to ${max} are allowed`,
    help: "Send the maximum number of run starts a minute, or 0 for 60.",
  },
  POLICY_INVALID: {
    code: "invalid_argument",
    field: "policy",
    says: (policy: string) => `policy ${formatValue(policy)} is not one of ${overlapPolicies.join(", ")}`,
    help: "Send one of them, such as allow, or nothing so that runs wait for each other.",
  },
  BACKFILL_TOO_LARGE: {
    code: "resource_exhausted",
    field: "since",
    says: (max: number) => `there are more than ${max} times or events between since and until`,
    help: "Choose a shorter time; a dry run counts.",
  },
  BACKFILL_NOT_POSSIBLE: {
    code: "failed_precondition",
    field: (path: string) => path,
    says: (_path: string, why: string) => why,
    help: (_path: string, _why: string, help: FaultText) => help,
  },
  BACKFILL_RUNNING: {
    code: "failed_precondition",
    field: "id",
    says: (id: string) => `the backfill ${formatValue(id)} of the program has not ended`,
    help: text`Wait for it with ${call("GetBackfill")}, or end it with ${call("CancelBackfill")}.`,
  },
  BACKFILL_NOT_FOUND: {
    code: "not_found",
    field: "id",
    says: (id: string) => `the project has no backfill ${formatValue(id)}`,
    help: text`${call("BackfillStandingProgram")} returns its id; a backfill stays for 30 days after its end.`,
  },
});
