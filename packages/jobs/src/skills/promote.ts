import { askFaults } from "@svc/asks";
import type { JsonSchema } from "@svc/catalog";
import { isObject, type ProjectPrincipal, readJsonObject, requireId } from "@svc/core";
import type { EstimateDocument } from "@svc/db/documents/programs";
import { jobsForProject } from "@svc/db/jobs/repo";
import type { StoredAccessClass } from "@svc/db/schema/words";
import { type NewSkill, skillsForProject } from "@svc/db/skills/repo";
import { canonicalJson, type JsonValue, parseCheckedProgram, runsOf } from "@svc/program";
import { youngerFaults } from "../api/check.ts";
import type { JobsContext } from "../api/context.ts";
import { openReadable } from "../drive/store/stored-program.ts";
import { jobFaults } from "../errors.ts";
import { skillToolSlug } from "./toolkit.ts";

/**
 * Compares the input schemas of two versions of a skill. Returns a text for each place at which the new schema may refuse an input that the
 * old one accepts; empty if there is none. Unclear cases are reported as differences.
 */
export function inputDifferences(before: JsonSchema, after: JsonSchema): string[] {
  return [...differencesAt(before, after, "input")];
}

/** JSON Schema keywords whose value is a lower limit: if the limit is raised, the schema accepts fewer values. */
const lowerBounds = ["minItems", "minLength", "minimum", "exclusiveMinimum", "minProperties"];
const upperBounds = ["maxItems", "maxLength", "maximum", "exclusiveMaximum", "maxProperties"];
/**
 * Keywords of a JSON Schema whose values are compared only for equality. A difference is reported if the new schema has the keyword and its
 * value is not equal to the old one.
 */
const wholeKeywords = ["pattern", "format", "multipleOf", "dependentRequired", "anyOf", "oneOf", "allOf"];

function* differencesAt(before: JsonSchema, after: JsonSchema, at: string): Generator<string> {
  yield* typeDifferences(before, after, at);
  yield* valueDifferences(before, after, at);
  yield* boundDifferences(before, after, at);
  for (const keyword of wholeKeywords) {
    if (after[keyword] !== undefined && !isSame(before[keyword], after[keyword])) {
      yield `${at} has a different ${keyword}`;
    }
  }
  if (before["x-sensitive"] === true && after["x-sensitive"] !== true) yield `${at} is no longer marked x-sensitive`;
  yield* fieldDifferences(before, after, at);
  if (isObject(after.items)) yield* differencesAt(isObject(before.items) ? before.items : {}, after.items, `${at}[]`);
}

function* typeDifferences(before: JsonSchema, after: JsonSchema, at: string): Generator<string> {
  if (after.type === undefined) return;
  const taken = namesOf(after.type);
  const given = before.type === undefined ? ["anything"] : namesOf(before.type);
  const refused = given.filter((type) => !taken.includes(type) && !(type === "integer" && taken.includes("number")));
  if (refused.length > 0) yield `${at} was ${given.join(" or ")} and is ${taken.join(" or ")}`;
}

function* valueDifferences(before: JsonSchema, after: JsonSchema, at: string): Generator<string> {
  const taken = valuesOf(after);
  if (taken === undefined) return;
  const given = valuesOf(before);
  if (given === undefined) yield `${at} takes ${taken.join(", ")} alone`;
  const refused = given?.filter((value) => !taken.includes(value)) ?? [];
  if (refused.length > 0) yield `${at} no longer takes ${refused.join(", ")}`;
}

function* boundDifferences(before: JsonSchema, after: JsonSchema, at: string): Generator<string> {
  const narrows = (keyword: string, sign: 1 | -1) => {
    const [was, is] = [before[keyword], after[keyword]];
    return is !== undefined && !(typeof was === "number" && typeof is === "number" && sign * is <= sign * was);
  };
  for (const keyword of lowerBounds) if (narrows(keyword, 1)) yield `${at} has a ${keyword} of ${after[keyword]}`;
  for (const keyword of upperBounds) if (narrows(keyword, -1)) yield `${at} has a ${keyword} of ${after[keyword]}`;
}

function* fieldDifferences(before: JsonSchema, after: JsonSchema, at: string): Generator<string> {
  const [was, is] = [propertiesOf(before), propertiesOf(after)];
  const isClosed = after.additionalProperties === false;
  if (isClosed && before.additionalProperties !== false && before.type === "object") {
    yield `${at} no longer takes other fields`;
  }
  for (const [name, schema] of was) {
    const now = is.get(name);
    if (now !== undefined) yield* differencesAt(schema, now, `${at}.${name}`);
    else if (isClosed) yield `${at}.${name} is no longer taken`;
  }
  for (const [name, schema] of is) {
    // The old schema did not limit this field, so callers may have sent any value in it. The new schema of the field is compared with a
    // schema that accepts everything.
    if (!was.has(name) && before.additionalProperties !== false) yield* differencesAt({}, schema, `${at}.${name}`);
  }
  const needed = new Set(namesOf(before.required));
  for (const name of namesOf(after.required)) {
    if (!needed.has(name) && is.get(name)?.default === undefined) yield `${at}.${name} is now required`;
  }
}

function propertiesOf({ properties }: JsonSchema): ReadonlyMap<string, JsonSchema> {
  const entries = isObject(properties) ? Object.entries(properties) : [];
  return new Map(entries.flatMap(([name, schema]) => (isObject(schema) ? [[name, schema] as const] : [])));
}

/** Returns the names that a keyword of a JSON schema, such as `type` or `required`, lists. */
function namesOf(names: unknown): string[] {
  return [names].flat().filter((name) => typeof name === "string");
}

/** Returns the only values that a schema accepts, as JSON texts. Undefined if it accepts any value. */
function valuesOf({ const: only, enum: some }: JsonSchema): string[] | undefined {
  if (only !== undefined) return [textOf(only)];
  return Array.isArray(some) ? some.map(textOf) : undefined;
}

function isSame(one: unknown, other: unknown): boolean {
  return one !== undefined && textOf(one) === textOf(other);
}

function textOf(value: unknown): string {
  return canonicalJson(value as JsonValue);
}

const descriptionMax = 1000;
/**
 * Maximum number of skills in a project, and of versions of a skill. They are limited because every node that serves the project keeps the
 * schemas of the newest versions in memory.
 */
const most = { skills: 200, versions: 100 };

/** Request of PromoteJob. */
export type Promotion = {
  readonly jobId: string;
  readonly slug: string;
  readonly description: string;
  readonly newVersion: boolean;
};

/**
 * Makes a job's program a tool, or the next version of an existing tool. Returns the tool's slug and version. The tool is part of the
 * project's catalog from then on. Throws the errors of PromoteJob.
 */
export async function promoteJob(
  {
    db,
    clock,
    sealer,
    views,
    accounts,
    meter,
  }: Pick<JobsContext, "db" | "clock" | "sealer" | "views" | "accounts" | "meter">,
  { projectId, keyId }: ProjectPrincipal,
  { jobId, slug, description, newVersion }: Promotion,
): Promise<{ readonly toolSlug: string; readonly version: number }> {
  const id = requireId("job", "jobId", jobId);
  const job = await jobsForProject(db, projectId).find(id);
  if (job === undefined) throw askFaults.JOB_NOT_FOUND("jobId", jobId);
  if (job.mode === "rehearse") throw jobFaults.JOB_NOT_PROMOTABLE(jobId, "is a rehearsal: no call was made");
  if (job.mode !== "live")
    throw jobFaults.JOB_NOT_PROMOTABLE(jobId, "was simulated: it is not known if its writes work");
  if (job.status !== "succeeded") throw jobFaults.JOB_NOT_PROMOTABLE(jobId, `is ${job.status}, not succeeded`);
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(slug)) throw jobFaults.SKILL_SLUG_INVALID(slug);
  const length = [...description.trim()].length;
  if (length === 0 || [...description].length > descriptionMax)
    throw jobFaults.SKILL_DESCRIPTION_INVALID([...description].length);
  const accessClass = worstOf(job.estimate);
  const programJson = openReadable(sealer, job, job);
  const inputSchema = checkInputSchema({ jobId, slug }, programJson, accessClass);
  const faults = await youngerFaults({ db, sealer, views, accounts, meter }, { projectId, programJson });
  if (faults.length > 0) throw jobFaults.PROMOTED_PROGRAM_FAULTY(jobId, faults);
  const { programDigest } = job;
  const skill = { slug, description, jobId: id, programDigest, accessClass, createdAt: clock.now() };
  const toolSlug = skillToolSlug(slug);
  const version = await addSkill({ ...skill, inputSchema: JSON.stringify(inputSchema) }, newVersion, {
    skills: skillsForProject(db, projectId),
    inputSchema,
    chain: [`key:${keyId}`],
  });
  views.forget(projectId);
  return { toolSlug, version };
}

type Adding = {
  readonly skills: ReturnType<typeof skillsForProject>;
  readonly inputSchema: JsonSchema;
  readonly chain: string[];
};

/**
 * Stores a skill, or a new version of it, and returns the version number. A new version must accept every input that the newest version
 * accepts.
 */
async function addSkill(
  skill: Omit<NewSkill, "newest">,
  newVersion: boolean,
  { skills, inputSchema, chain }: Adding,
): Promise<number> {
  const { slug } = skill;
  for (;;) {
    const [before] = newVersion ? await skills.listVersions(slug) : [];
    if (newVersion && before === undefined) throw jobFaults.SKILL_NOT_FOUND(slug, 0);
    if (before !== undefined) checkCompatible(before, inputSchema);
    const eventOf = (version: number) => {
      const payload = JSON.stringify({ toolSlug: skillToolSlug(slug), version });
      return { type: "job-promoted", stepId: "", payload, principalChain: chain };
    };
    const added = await skills.add({ ...skill, newest: before?.version ?? 0 }, eventOf, most);
    if (added.outcome === "added") return added.version;
    if (added.outcome === "too_many") throw jobFaults.SKILLS_TOO_MANY(added.what, most[added.what]);
    if (!newVersion) throw jobFaults.SKILL_SLUG_TAKEN(slug);
  }
}

/**
 * Throws SKILL_INCOMPATIBLE if a new version of a skill (a program that is used as a tool) is too strict. This is the case if its input
 * schema may refuse an input that the newest version accepts.
 */
function checkCompatible(before: { slug: string; version: number; inputSchema: string }, after: JsonSchema): void {
  const schema = readJsonObject(before.inputSchema, "the input schema of a skill");
  const differences = inputDifferences(schema, after);
  if (differences.length > 0) throw jobFaults.SKILL_INCOMPATIBLE(before.slug, before.version, differences);
}

/** Returns the highest access class of a program's calls. A program without calls counts as a read. */
function worstOf({ accessClasses }: EstimateDocument): StoredAccessClass {
  return accessClasses.at(-1) ?? "read";
}

function checkInputSchema(
  { jobId, slug }: Pick<Promotion, "jobId" | "slug">,
  programJson: string,
  accessClass: StoredAccessClass,
): JsonSchema {
  const { inputSchema, steps } = parseCheckedProgram(programJson);
  if (runsOf(steps).includes(skillToolSlug(slug))) {
    throw jobFaults.JOB_NOT_PROMOTABLE(
      jobId,
      `has a program that runs ${skillToolSlug(slug)}, and would run itself after the promotion`,
    );
  }
  if (inputSchema === undefined)
    throw jobFaults.JOB_NOT_PROMOTABLE(jobId, "has a program that declares no inputSchema");
  const { properties = {} } = inputSchema as { readonly properties?: object };
  if (accessClass === "destructive" && Object.hasOwn(properties, "confirm")) {
    throw jobFaults.JOB_NOT_PROMOTABLE(
      jobId,
      "has an inputSchema with a property confirm, which a destructive tool needs for itself",
    );
  }
  return inputSchema;
}
