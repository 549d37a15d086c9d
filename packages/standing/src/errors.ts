import { call, defineFaults, type FaultText, field, formatValue, text } from "@svc/core";
import { overlapPolicies } from "@svc/db/schema/words";
import { faultsText } from "@svc/program";
import type { StandingFault } from "./definition/faults.ts";

/** Maximum faults in an answer. */
const listedMax = 100;

/** Faults of standing programs and backfills. */
export const standingFaults = defineFaults({
  /** `field` of each fault is `definitionJson` and a JSON Pointer. */
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
  /** The project has the maximum number of programs. With `triggerSlug`: the maximum number of programs for that trigger. */
  STANDING_PROGRAMS_TOO_MANY: {
    code: "resource_exhausted",
    says: (most: number, triggerSlug?: string) =>
      `the project has ${most} standing programs${triggerSlug === undefined ? "" : ` that listen to ${triggerSlug}`} already`,
    help: text`Delete what is not needed any more with ${call("DeleteStandingProgram")}.`,
  },
  /** The project has no such program; `field`: the field of the request. */
  STANDING_PROGRAM_NOT_FOUND: {
    code: "not_found",
    field: (path: "id" | "standingProgramId") => path,
    says: (_path: "id" | "standingProgramId", id: string) => `the project has no standing program ${formatValue(id)}`,
    help: text`${call("ListStandingPrograms")} names those there are; send the id or the slug.`,
  },
  STANDING_RUN_NOT_FOUND: {
    code: "not_found",
    field: "id",
    says: (id: string) => `the project has no run ${formatValue(id)} of a standing program`,
    help: text`${call("ListStandingRuns")} names those there are; they stay for 30 days after their end.`,
  },
  STANDING_VERSION_STALE: {
    code: "failed_precondition",
    field: "expectedVersion",
    says: (expected: number, version: number) => `the program is of version ${version}, and ${expected} was expected`,
    help: text`Read the program with ${call("GetStandingProgram")}, and send the version that your change is made from.`,
  },
  PAUSE_CAUSE_STANDS: {
    code: "failed_precondition",
    field: "id",
    says: (cause: string) => cause,
    help: text`Send ${call("UpdateStandingProgram")} with the same definition, or ${call("ResumeStandingProgram")} with adopt: either has the program go on for your key and with the tools of today, as a plan that is checked, and approved, anew.`,
  },
  STANDING_PROGRAM_NOT_ACTIVE: {
    code: "failed_precondition",
    field: "id",
    says: (standing: string) => `the program is ${standing}`,
    help: text`Resume it with ${call("ResumeStandingProgram")} first; one that has ended takes a new definition.`,
  },
  EVENT_NOT_FOUND: {
    code: "not_found",
    field: "eventId",
    says: (id: string) => `the project has no event ${formatValue(id)} of the trigger that the program is for`,
    help: text`${call("ListEvents")} with its ${field("triggerSlug")} returns those there are.`,
  },
  INPUT_MISMATCH: {
    code: "invalid_argument",
    field: "inputJson",
    says: (why: string) => `inputJson: ${why}`,
    help: "Send a JSON object that the program's inputSchema takes, or nothing for what the definition makes.",
  },
  APPROVER_ROLE_REQUIRED: {
    code: "permission_denied",
    field: "id",
    says: "the plan needs approval, and only an approver's key may run it",
    help: "Call with a key of the role approver.",
  },
  PREVIEW_COUNT_INVALID: {
    code: "invalid_argument",
    field: "count",
    says: (count: number) => `count is ${count}; at most 100 are told`,
    help: "Send 1 to 100, or 0 for 10.",
  },
  FILTER_REQUIRED: {
    code: "invalid_argument",
    field: "since",
    says: "since must be set",
    help: "Name the first time to make up for, such as 2026-01-05T00:00:00Z.",
  },
  BACKFILL_RATE_INVALID: {
    code: "invalid_argument",
    field: "perMinute",
    says: (perMinute: number, max: number) => `perMinute is ${perMinute}; 1 to ${max} are allowed`,
    help: "Send the runs that may start in a minute, such as 60, or 0 for that.",
  },
  POLICY_INVALID: {
    code: "invalid_argument",
    field: "policy",
    says: (policy: string) => `policy ${formatValue(policy)} is none of ${overlapPolicies.join(", ")}`,
    help: "Send one of them, such as allow, or nothing to have runs wait for each other.",
  },
  BACKFILL_TOO_LARGE: {
    code: "resource_exhausted",
    field: "since",
    says: (max: number) => `there are more than ${max} times or events between since and until`,
    help: "Make up for a shorter time at once; a dry run counts.",
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
    help: text`${call("BackfillStandingProgram")} answers its id; a backfill stays for 30 days after its end.`,
  },
});
