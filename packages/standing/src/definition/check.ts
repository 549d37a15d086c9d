import type { CatalogView, CatalogViews, JsonSchema } from "@svc/catalog";
import {
  type Binding,
  bindingText,
  call,
  type Fault,
  formatValue,
  isObject,
  isToolkitGranted,
  type JsonObject,
  type ProjectId,
  type Role,
  text,
  type WorkMeter,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { JobStarter, StartableProgram } from "@svc/jobs";
import {
  canonicalHash,
  checkGivenExpression,
  examineGiven,
  type GivenTypes,
  type ProgramFault,
  type ProgramNote,
  pointerOf,
  typeOfConstant,
} from "@svc/program";
import { standingFaults } from "../errors.ts";
import { checkPoll } from "../poll/check.ts";
import { rowTypeOf } from "../poll/definition.ts";
import { firstOfSource } from "../schedule/due.ts";
import { type Definition, givenTypeOf } from "./definition.ts";
import { noteEntity, noteZone, type StandingFault, type StandingFaults } from "./faults.ts";
import { knownOf, type PayloadTypes, type RowTypes, readDefinition } from "./read.ts";
import { suggestedValue } from "./suggested-input.ts";

/** Dependencies of the function that checks the definition of a schedule. */
export type CheckParts = {
  readonly db: Executor;
  readonly starter: Pick<JobStarter, "check" | "checkRead">;
  /** The tools and triggers of the deployment and of projects. */
  readonly views: Pick<CatalogViews, "shared" | "forProject">;
  /** Measures and limits the work of computing the times of schedules. */
  readonly meter: Pick<WorkMeter, "begin">;
};

/** A schedule's definition that is to be checked, and the project and role of the caller. */
export type DefinitionCheck = {
  readonly projectId: ProjectId;
  readonly role: Role;
  /** The access scope of the program. Null if it may use the whole project. */
  readonly binding: Binding | null;
  readonly definitionJson: string;
  readonly nowMs: number;
  /**
   * True if the schedule's definition that is checked is already stored. Rules that are newer than the stored definition then do not apply.
   * Default false.
   */
  readonly isStored?: boolean;
};

/**
 * The definition of a standing program (which starts jobs on a schedule or event) that has passed the check, with values computed from the
 * definition.
 */
export type CheckedDefinition = {
  readonly definition: Definition;
  readonly hash: string;
  /** Hash of everything that a run does, as `planHashOf` returns it. */
  readonly planHash: string;
  readonly start: StartableProgram;
  /**
   * When the program is due for the first time after the definition was checked, in epoch milliseconds. Null if it is never due, or if the
   * time cannot be known in advance, as for events.
   */
  readonly firstAt: number | null;
  /** Notes about the schedule's definition and its program. A note is a hint for the author and no error. */
  readonly notes: readonly ProgramNote[];
};

/**
 * Checks a whole definition, including its program. It also checks that the project may use everything that the definition names (for
 * example tools). Returns the checked definition, or one refusal with all faults.
 */
export async function checkDefinition(
  { db, starter, views, meter }: CheckParts,
  { projectId, role, binding, definitionJson, nowMs, isStored = false }: DefinitionCheck,
): Promise<CheckedDefinition | { readonly refusal: Fault }> {
  const view = await views.forProject(projectId);
  const payloadOf: PayloadTypes = (slug) => view.triggers.get(slug)?.outputSchema;
  const rowOf: RowTypes = (poll) => {
    const tool = view.tools.get(poll.call);
    return tool?.kind === "action" ? rowTypeOf(poll, tool) : undefined;
  };
  const search = { nowMs, work: meter.begin({ projectId }) };
  const { faults, shared, definition, document } = await readDefinition(definitionJson, search, payloadOf, rowOf);
  if (!isStored) faults.takeYounger();
  const program = document?.program;
  const given = definition && givenTypeOf(definition.source, knownOf(definition.source, payloadOf, rowOf));
  const start = isObject(program)
    ? await starter.check({
        ...{ projectId, role, binding, programJson: JSON.stringify(program) },
        isInputMade: document?.input !== undefined,
        calls: definition?.source.kind === "poll" ? [definition.source.poll.call] : [],
        isStored,
      })
    : { faults: [], omitted: 0 };
  if (definition !== undefined) checkSource(definition, view, faults);
  if (definition?.source.kind === "poll")
    await checkPoll(definition.source.poll, { starter, projectId, binding, view, faults });
  if (definition !== undefined && binding !== null) checkBinding(definition, binding, faults);
  if (definition?.when !== undefined) {
    const params = "program" in start ? start.program.params : undefined;
    const known = knownOf(definition.source, payloadOf, rowOf);
    const names = givenTypes(definition, known, params && typeOfConstant(params));
    checkGivenExpression(definition.when, names, shared);
  }
  if ("refusal" in start && faults.count === 0) return start;
  if (definition !== undefined && "program" in start) {
    checkInput(definition, start, given, faults.add);
    checkBudget(definition, start, faults);
    checkDrift(definition, start, faults);
  }
  const ofProgram: StandingFault[] =
    "faults" in start
      ? start.faults.map((fault) => ({ ...withInput(fault, document, given), pointer: `/program${fault.pointer}` }))
      : [];
  const own = faults.list();
  const all = [...own, ...ofProgram];
  const omitted = faults.count - own.length + ("faults" in start ? start.omitted : 0);
  if (all.length > 0 || definition === undefined || document === undefined || !("program" in start)) {
    return { refusal: standingFaults.DEFINITION_FAULTY(all, omitted) };
  }
  const noted = { projectId, definition, document };
  noteZone(noted, faults);
  await noteEntity(noted, { db, views }, faults);
  const notesOfProgram = start.notes.map((note) => ({ ...note, pointer: `/program${note.pointer}` }));
  return {
    ...{ definition, hash: canonicalHash(document), planHash: planHashOf(document, start), start },
    firstAt: await firstOfSource(definition.source, nowMs, search.work),
    notes: [...faults.notes(), ...notesOfProgram],
  };
}

/** Returns a hash of everything that decides what a run does: program, input, condition, and definitions of its tools. */
function planHashOf(document: JsonObject, { programHash, pins }: StartableProgram): string {
  const { input = null, when = null } = document;
  return canonicalHash({ programHash, input, when, pins });
}

/**
 * Returns an error of the program, with a hint added if the error reports a missing input. The hint says how the schedule's definition can
 * provide the input.
 */
function withInput(fault: ProgramFault, document: JsonObject | undefined, given: JsonSchema | undefined): ProgramFault {
  const { program } = document ?? {};
  const inputSchema = isObject(program) ? program.inputSchema : undefined;
  const isLacking = fault.code === "PROGRAM_ARGUMENT_INVALID" && /^input lacks /.test(fault.message);
  if (!isLacking || given === undefined || !isObject(inputSchema)) return fault;
  const hint = `write ${suggestedInput(inputSchema, given)} in the definition, next to program; or a constant value in input of the program`;
  return { ...fault, hint };
}

/**
 * Returns the types of the values that the condition `when` of a definition can use, by name (for example `event`). One of them is
 * `params`, the constants of the program. Its type is undefined if the program has faults.
 */
function givenTypes(
  { source }: Definition,
  known: JsonSchema | undefined,
  params: ReturnType<typeof typeOfConstant> | undefined,
) {
  const { properties } = givenTypeOf(source, known);
  const own = source.kind === "poll" ? [["row", known] as const] : [];
  const given: GivenTypes = new Map([...Object.entries(properties ?? {}), ...own, ["params", params]]);
  return new Map([...given].filter(([name]) => name !== "events" && name !== "rows"));
}

/** Maximum number of known triggers that an error's hint lists. */
const namedMax = 5;

function checkSource({ source }: Definition, { triggers }: CatalogView, faults: StandingFaults): void {
  if (source.kind !== "trigger" || triggers.has(source.slug)) return;
  const known = [...triggers.keys()];
  const named = known.slice(0, namedMax).join(", ");
  const hint =
    known.length === 0
      ? "the deployment has no triggers"
      : text`write one of ${named}; ${call("ListTools")} of kind TRIGGER lists all`;
  faults.add(
    "TRIGGER_UNKNOWN",
    ["source", "trigger", "slug"],
    `is ${formatValue(source.slug)}, which is not a trigger`,
    hint,
  );
}

/**
 * Records faults if the key that creates the program is limited to an entity (customer or user) or to toolkits (apps), and the program's
 * trigger is outside these limits.
 */
function checkBinding({ source }: Definition, binding: Binding, faults: StandingFaults): void {
  if (source.kind !== "trigger") return;
  const { entityId } = binding;
  const at = ["source", "trigger"];
  if (entityId !== "" && source.entity !== entityId) {
    const given = source.entity === undefined ? "lacks entity" : `has the entity ${formatValue(source.entity)}`;
    const message = `${given}, but the key that creates it is limited to ${bindingText(binding)}`;
    faults.add(
      "SOURCE_NOT_GRANTED",
      source.entity === undefined ? at : [...at, "entity"],
      message,
      `write ${formatValue(entityId)}`,
    );
  }
  const [toolkitSlug = ""] = source.slug.split(".");
  if (isToolkitGranted(binding, toolkitSlug)) return;
  const message = `is of ${toolkitSlug}, but the key that creates it may use only ${bindingText({ ...binding, entityId: "" })}`;
  faults.add("SOURCE_NOT_GRANTED", [...at, "slug"], message, "name a trigger of one of those toolkits");
}

/**
 * Records an error if a schedule's definition says `drift: follow` (use changed tools without asking) and the program needs approval.
 * People approve a program with the tools of that time, so changed tools need a new approval.
 */
function checkDrift({ drift }: Definition, { needsApproval }: StartableProgram, faults: StandingFaults): void {
  if (drift !== "follow" || !needsApproval) return;
  const hint = 'write "pause", or nothing; ResumeStandingProgram with adopt asks for approval again';
  faults.add("POLICY_INVALID", ["drift"], "is follow, but the plan of the program needs approval", hint);
}

/**
 * Records a fault if the program needs approval, is started by events or rows, and has no limit of runs per day in `budget`. The people who
 * approve the program must see how many runs a day it may have. Times of a schedule limit this number by themselves.
 */
function checkBudget(
  { source, budget }: Definition,
  { needsApproval }: StartableProgram,
  faults: StandingFaults,
): void {
  if (source.kind === "schedule" || !needsApproval || budget?.runs !== undefined) return;
  const message = "sets no limit of runs, but the plan of the program needs approval";
  faults.add("BUDGET_REQUIRED", budget === undefined ? [] : ["budget"], message, 'add one: "budget": {"runs": 200}');
}

/** Records an error if the program does not accept the input that the schedule's definition (`input`) makes for it. */
function checkInput(
  { input }: Definition,
  { program: { inputSchema } }: StartableProgram,
  given: JsonSchema | undefined,
  add: (code: "INPUT_MISMATCH", path: readonly (string | number)[], message: string, hint: string) => void,
): void {
  if (input === undefined) return;
  if (inputSchema === undefined) {
    add("INPUT_MISMATCH", ["input"], "is given, but the program declares no inputSchema", "declare the input there");
    return;
  }
  for (const { path, message } of examineGiven(input, inputSchema).slice(0, 100)) {
    const [, lacked] = /^must have required property '(\w{1,64})'$/.exec(message) ?? [];
    const added =
      lacked === undefined || given === undefined
        ? ""
        : `add ${JSON.stringify(lacked)}: ${suggestedValue(lacked, given)}; or `;
    add(
      "INPUT_MISMATCH",
      ["input", ...path],
      message,
      `${added}change it, or the program's inputSchema${pointerOf(path)}`,
    );
  }
}

/**
 * Returns a suggested text for the field `input` of a schedule's definition. The text has every required field of the program's input.
 * `given`: schema of the values that templates can use.
 */
function suggestedInput(inputSchema: JsonSchema, given: JsonSchema): string {
  const required = Array.isArray(inputSchema.required) ? (inputSchema.required as string[]) : [];
  const entries = required.slice(0, 20).map((name) => `${JSON.stringify(name)}: ${suggestedValue(name, given)}`);
  return `"input": {${entries.join(", ")}}`;
}
