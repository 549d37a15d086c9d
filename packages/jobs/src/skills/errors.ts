import { type Fault, fault, formatValue } from "@svc/core";

/** A job's program cannot become a skill. */
export function jobNotPromotable(id: string, why: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "JOB_NOT_PROMOTABLE",
    field: "jobId",
    message: `job ${id} ${why}`,
    help: "Promote a live job that succeeded and whose program declares an inputSchema.",
  });
}

/** A skill's name is out of its form. */
export function skillSlugInvalid(slug: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "SKILL_SLUG_INVALID",
    field: "slug",
    message: `slug ${formatValue(slug)} does not match ^[a-z][a-z0-9_]{0,62}$`,
    help: "Send a name such as remind_guests, without the prefix skills.",
  });
}

/** A skill's description is out of its form. */
export function skillDescriptionInvalid(length: number): Fault {
  return fault({
    code: "invalid_argument",
    reason: "SKILL_DESCRIPTION_INVALID",
    field: "description",
    message: `description has ${length} characters; it must have 1 to 1,000`,
    help: "Say what the skill does, for a model that must choose.",
  });
}

/** The project has a skill of that name. */
export function skillSlugTaken(slug: string): Fault {
  return fault({
    code: "already_exists",
    reason: "SKILL_SLUG_TAKEN",
    field: "slug",
    message: `slug ${formatValue(slug)} is taken by another skill of this project`,
    help: "Choose another name, or send newVersion true to make its next version.",
  });
}

/** The project has no skill of that name, or no such version of it; of version 0 any is meant. */
export function skillNotFound(slug: string, version: number): Fault {
  const which = version === 0 ? "" : ` with a version ${version}`;
  return fault({
    code: "not_found",
    reason: "SKILL_NOT_FOUND",
    field: "slug",
    message: `the project has no skill ${formatValue(slug)}${which}`,
    help: "ListSkills names those there are; send the slug without the prefix skills.",
  });
}

/** Differences that a message names. */
const differencesMax = 10;

/** A program does not take every input that the newest version of the skill takes. */
export function skillIncompatible(slug: string, newest: number, differences: readonly string[]): Fault {
  const named = differences.slice(0, differencesMax).join("; ");
  const others = differences.length > differencesMax ? `; and ${differences.length - differencesMax} more` : "";
  return fault({
    code: "failed_precondition",
    reason: "SKILL_INCOMPATIBLE",
    field: "jobId",
    message: `the program does not take every input that version ${newest} of ${formatValue(slug)} takes: ${named}${others}`,
    help: "Mend the inputSchema, such as by a default for what became required, or promote it under another slug.",
  });
}

/** The project has as many skills as it may, or the skill as many versions. */
export function skillsTooMany(what: "skills" | "versions", most: number): Fault {
  return fault({
    code: "resource_exhausted",
    reason: "SKILLS_TOO_MANY",
    message: what === "skills" ? `the project has ${most} skills already` : `the skill has ${most} versions already`,
    help: "Delete what nobody calls with DeleteSkill, or submit the program with SubmitJob instead.",
  });
}
