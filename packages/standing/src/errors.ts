import { type Fault, fault, faults, formatValue } from "@svc/core";
import { overlapPolicies } from "@svc/db";
import type { DefinitionFault } from "./definition/faults.ts";

/** Faults that an answer lists, and that its message quotes. */
const listedMax = 100;
const quotedMax = 5;
const quotedCharactersMax = 300;

/** A definition has faults: a detail each, `field` naming the place by `definitionJson` and a JSON Pointer. */
export function definitionFaulty(found: readonly DefinitionFault[], omitted: number): Fault {
  const count = found.length + omitted;
  const quoted = found
    .slice(0, quotedMax)
    .map(({ pointer, message }) => `${pointer === "" ? "the definition" : pointer} ${message}`)
    .map((text) =>
      text.length > quotedCharactersMax ? `${text.slice(0, quotedCharactersMax).toWellFormed()}...` : text,
    );
  const others = count > quoted.length ? `; and ${count - quoted.length} more` : "";
  return faults({
    code: "invalid_argument",
    message: `definitionJson has ${count === 1 ? "1 fault" : `${count} faults`}: ${quoted.join("; ")}${others}`,
    details: found.slice(0, listedMax).map(({ code, pointer, message, hint }) => {
      return { reason: code, field: `definitionJson${pointer}`, help: `${message}: ${hint}.` };
    }),
  });
}

/** A program's name is out of its form. */
export function standingSlugInvalid(slug: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "STANDING_SLUG_INVALID",
    field: "slug",
    message: `slug ${formatValue(slug)} does not match ^[a-z][a-z0-9_-]{0,62}$`,
    help: "Send a name such as tell-sales.",
  });
}

/** The project has another program of that name. */
export function standingSlugTaken(slug: string): Fault {
  return fault({
    code: "already_exists",
    reason: "STANDING_SLUG_TAKEN",
    field: "slug",
    message: `slug ${formatValue(slug)} is taken by another standing program of this project`,
    help: "Choose another name, or make the next version of that program with UpdateStandingProgram.",
  });
}

/** The project has as many programs as it may; `triggerSlug`: as listen to it. */
export function standingProgramsTooMany(most: number, triggerSlug?: string): Fault {
  const all = triggerSlug === undefined ? "" : ` that listen to ${triggerSlug}`;
  return fault({
    code: "resource_exhausted",
    reason: "STANDING_PROGRAMS_TOO_MANY",
    message: `the project has ${most} standing programs${all} already`,
    help: "Delete what is not needed any more with DeleteStandingProgram.",
  });
}

/** The project has no such program; `field` names it in the request. */
export function standingProgramNotFound(field: "id" | "standingProgramId", id: string): Fault {
  return fault({
    code: "not_found",
    reason: "STANDING_PROGRAM_NOT_FOUND",
    field,
    message: `the project has no standing program ${formatValue(id)}`,
    help: "ListStandingPrograms names those there are; send the id or the slug.",
  });
}

/** The project has no such run. */
export function standingRunNotFound(id: string): Fault {
  return fault({
    code: "not_found",
    reason: "STANDING_RUN_NOT_FOUND",
    field: "id",
    message: `the project has no run ${formatValue(id)} of a standing program`,
    help: "ListStandingRuns names those there are; they stay for 30 days after their end.",
  });
}

/** A program has another version than was expected. */
export function standingVersionStale(expected: number, version: number): Fault {
  return fault({
    code: "failed_precondition",
    reason: "STANDING_VERSION_STALE",
    field: "expectedVersion",
    message: `the program is of version ${version}, and ${expected} was expected`,
    help: "Read the program with GetStandingProgram, and send the version that your change is made from.",
  });
}

/** A program cannot go on: what paused it stands, such as that its key is gone. */
export function pauseCauseStands(cause: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "PAUSE_CAUSE_STANDS",
    field: "id",
    message: cause,
    help: "Send UpdateStandingProgram with the same definition, or ResumeStandingProgram with adopt: either has the program go on for your key and with the tools of today, as a plan that is checked, and approved, anew.",
  });
}

/** A program that starts nothing is to be run. */
export function standingProgramNotActive(standing: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "STANDING_PROGRAM_NOT_ACTIVE",
    field: "id",
    message: `the program is ${standing}`,
    help: "Resume it with ResumeStandingProgram first; one that has ended takes a new definition.",
  });
}

/** The project has no such event of the program's trigger. */
export function eventNotFound(id: string): Fault {
  return fault({
    code: "not_found",
    reason: "EVENT_NOT_FOUND",
    field: "eventId",
    message: `the project has no event ${formatValue(id)} of the trigger that the program is for`,
    help: "ListEvents with its triggerSlug returns those there are.",
  });
}

/** What a caller gave is not what the program takes. */
export function inputMismatch(why: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "INPUT_MISMATCH",
    field: "inputJson",
    message: `inputJson: ${why}`,
    help: "Send a JSON object that the program's inputSchema takes, or nothing for what the definition makes.",
  });
}

/** An idempotency key is out of its form. */
export function idempotencyKeyInvalid(characters: number): Fault {
  return fault({
    code: "invalid_argument",
    reason: "IDEMPOTENCY_KEY_INVALID",
    field: "idempotencyKey",
    message: `idempotencyKey has ${characters} characters; at most 255 are allowed`,
    help: "Send up to 255 characters, such as a UUID.",
  });
}

/** The plan needs approval that the calling key could not give. */
export function approverRoleRequired(): Fault {
  return fault({
    code: "permission_denied",
    reason: "APPROVER_ROLE_REQUIRED",
    field: "id",
    message: "the plan needs approval, and only an approver's key may run it",
    help: "Call with a key of the role approver.",
  });
}

/** More times were asked for than a preview tells. */
export function previewCountInvalid(count: number): Fault {
  return fault({
    code: "invalid_argument",
    reason: "PREVIEW_COUNT_INVALID",
    field: "count",
    message: `count is ${count}; at most 100 are told`,
    help: "Send 1 to 100, or 0 for 10.",
  });
}

/** A backfill is to be made of a range without a beginning. */
export function sinceRequired(): Fault {
  return fault({
    code: "invalid_argument",
    reason: "FILTER_REQUIRED",
    field: "since",
    message: "since must be set",
    help: "Name the first time to make up for, such as 2026-01-05T00:00:00Z.",
  });
}

/** A pace that no backfill has. */
export function backfillRateInvalid(perMinute: number, max: number): Fault {
  return fault({
    code: "invalid_argument",
    reason: "BACKFILL_RATE_INVALID",
    field: "perMinute",
    message: `perMinute is ${perMinute}; 1 to ${max} are allowed`,
    help: "Send the runs that may start in a minute, such as 60, or 0 for that.",
  });
}

/** A policy that is none. */
export function backfillPolicyInvalid(policy: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "POLICY_INVALID",
    field: "policy",
    message: `policy ${formatValue(policy)} is none of ${overlapPolicies.join(", ")}`,
    help: "Send one of them, such as allow, or nothing to have runs wait for each other.",
  });
}

/** More occurrences than one backfill may come to. */
export function backfillTooLarge(max: number): Fault {
  return fault({
    code: "resource_exhausted",
    reason: "BACKFILL_TOO_LARGE",
    field: "since",
    message: `there are more than ${max} times or events between since and until`,
    help: "Make up for a shorter time at once; a dry run counts.",
  });
}

/** What a backfill cannot be made of, and why. */
export function backfillNotPossible(field: string, why: string, help: string): Fault {
  return fault({ code: "failed_precondition", reason: "BACKFILL_NOT_POSSIBLE", field, message: why, help });
}

/** Two backfills of a program would mix their orders. */
export function backfillRunning(id: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "BACKFILL_RUNNING",
    field: "id",
    message: `the backfill ${formatValue(id)} of the program has not ended`,
    help: "Wait for it with GetBackfill, or end it with CancelBackfill.",
  });
}

/** The project has no such backfill. */
export function backfillNotFound(id: string): Fault {
  return fault({
    code: "not_found",
    reason: "BACKFILL_NOT_FOUND",
    field: "id",
    message: `the project has no backfill ${formatValue(id)}`,
    help: "BackfillStandingProgram answers its id; a backfill stays for 30 days after its end.",
  });
}
