import {
  type Action,
  createTenantValidators,
  createValidator,
  type JsonSchema,
  type SchemaValidator,
} from "@svc/catalog";
import { call, text } from "@svc/core";
import { canonicalHash } from "../canonical.ts";
import { type ClassOf, estimateOf, fixedUseOf } from "../estimate.ts";
import type { FaultList, ProgramFault } from "../faults.ts";
import { pathOf } from "../json.ts";
import { pinsOf } from "../pins.ts";
import type { Program } from "../program.ts";
import { type ReadProgram, readProgram } from "../read/program.ts";
import { callsOf, stepsOf } from "../steps/index.ts";
import { effectOf } from "../steps/parts/tool-call.ts";
import { referencesOf, type ValueTemplate } from "../template.ts";
import { typeOfConstant, typesOf, type ValueType } from "../types/schema-type.ts";
import { type Constants, firstScope, resolveType, type Scope, type StepOutcome } from "../types/scope.ts";
import type { AcceptedProgram, CheckedProgram, CheckedSkill } from "./accepted-program.ts";
import type { Check, CheckContext } from "./context.ts";
import { computedType } from "./expression.ts";
import type { FlowRecord } from "./flow.ts";
import { findAccepted, keepAccepted } from "./known-programs.ts";
import { checkWaits, noteProgram } from "./notes.ts";
import { checkPoints } from "./points.ts";
import { checkReferences } from "./references.ts";
import {
  accountQuestionsOf,
  askAccounts,
  askContacts,
  askHosts,
  hostsOf,
  principalsOf,
  secretNamesOf,
  secretUsesOf,
} from "./secrets.ts";
import { checkSensitiveSchema } from "./sensitive.ts";
import {
  type CheckedSkills,
  checkSkills,
  demandsApproval,
  knownSkillsOf,
  runnableOf,
  skillGateOf,
  skillPinsOf,
  undoToolsOf,
} from "./skills.ts";
import { checkSteps, scopeHints } from "./steps.ts";

/**
 * Cache of validators for parts of schemas in the shared catalog. A validator is removed together with its schema, so the size of the
 * catalog limits the cache.
 */
const partValidators = new WeakMap<JsonSchema, SchemaValidator>();

/**
 * Checks a whole program: its text, and the accounts, contacts, secrets and tools that it uses. The promise rejects only if a function of
 * the context rejects. If the same text was accepted earlier with the same catalog, only the project's accounts, contacts and secrets are
 * checked again.
 */
export async function checkProgram(programJson: string, context: CheckContext): Promise<CheckedProgram> {
  const known = findAccepted(programJson, context);
  if (known !== undefined && (await isGranted(known, context))) return known;
  return checkWhole(programJson, context);
}

/** True if the project has all the accounts, contacts and secrets that a program uses. */
async function isGranted(known: AcceptedProgram, context: CheckContext): Promise<boolean> {
  const { questions, principals, secrets, hosts } = known;
  const [accounts, contacts, kept, allowed] = await Promise.all([
    questions.length === 0 ? [] : context.hasAccounts(questions),
    principals.length === 0 ? [] : context.hasContacts(principals),
    secrets.length === 0 ? [] : context.hasSecrets(secrets),
    hosts.length === 0 ? undefined : context.httpHosts(),
  ]);
  return [...accounts, ...contacts, ...kept].every(Boolean) && hosts.every((host) => allowed?.has(host) === true);
}

async function checkWhole(programJson: string, context: CheckContext): Promise<CheckedProgram> {
  const { run = atOnce } = context;
  const read = run(() => readProgram(programJson));
  if (!("program" in read)) return faultsOf(read.faults);
  const { program, faults } = read;
  // A program that is too large is not checked any further, because only the size limits keep a check short.
  if (isTooLarge(read)) return faultsOf(faults);
  const { skills, check, scope } = await checkParts(read, context);
  checkUndos(program, faults);
  checkLimits(program, check, runnableOf(skills));
  checkWaits(program, scope, check);
  await Promise.all([
    askAccounts(program.steps, check, context),
    askContacts(program, check, context),
    askSecrets(program, check, context),
    askHosts(program, check, context),
  ]);
  if (faults.count > 0) return faultsOf(faults);
  const accepted = run(() => {
    noteProgram(program, read.document, check);
    return acceptedOf(read, { scope, check, skills: runnableOf(skills) });
  });
  keepAccepted(programJson, context, accepted);
  return accepted;
}

/**
 * Results of the check of a program that has no faults, such as the types of its values and its skills (programs that are used as tools).
 */
type CheckFindings = {
  readonly scope: Scope;
  readonly check: Check;
  readonly skills: ReadonlyMap<string, CheckedSkill>;
};

/**
 * Runs a part of a check and returns its result. It is the default if the caller of the check passes no function `run`, which would charge
 * the time of each part to the project.
 */
export function atOnce<Result>(part: () => Result): Result {
  return part();
}

/** True if a program is larger than the limits of the language allow. Such a program is read, but not checked. */
export function isTooLarge({ faults }: ReadProgram): boolean {
  return faults.list().some(({ code }) => code === "PROGRAM_TOO_LARGE");
}

/** A program whose steps, questions and result were checked. `scope`: the names that exist after the last step. */
type CheckedParts = { readonly skills: CheckedSkills; readonly check: Check; readonly scope: Scope };

/**
 * Checks the parts of a program that contain references: its steps, its questions and its result. Records every fault. `flow`: collects the
 * data that each part reads.
 */
export async function checkParts(read: ReadProgram, context: CheckContext, flow?: FlowRecord): Promise<CheckedParts> {
  const { program, faults } = read;
  if (context.isStored !== true) faults.takeYounger();
  const skills = await checkSkills(program, context, checkProgram);
  const { run = atOnce } = context;
  return run(() => {
    const check = createCheck(faults, context, { skills: knownSkillsOf(skills), flow });
    checkInput(program, context, check);
    const { scope, uses } = checkSteps(program.steps, program.points, startOf(read), check);
    checkPoints(program, uses, read.leftOut, check);
    checkResult(program, scope, check);
    return { skills, check, scope };
  });
}

function acceptedOf({ program, document }: ReadProgram, { scope, check, skills }: CheckFindings): AcceptedProgram {
  const inner = [...skills.values()].map((skill) => skill.accepted);
  const undoTools = [...new Set([...ownUndoTools(program, check), ...undoToolsOf(skills)])];
  const tools = [...new Set([...toolsOf(program, check), ...undoTools])];
  return {
    program,
    programHash: canonicalHash(document),
    estimate: estimateOf(program, { classOf: classOf(check.actions), skills }),
    pins: pinsOf(tools, check.view),
    skillPins: skillPinsOf(skills),
    skills,
    depth: Math.max(0, ...inner.map(({ depth }) => depth + 1)),
    demandsApproval: demandsApproval(skills),
    skillGate: skillGateOf(skills),
    fixedUse: fixedUseOf(program, { classOf: classOf(check.actions), skills }),
    resultType: resultTypeOf(program, scope),
    undoTools,
    questions: [...accountQuestionsOf(program.steps, check), ...inner.flatMap(({ questions }) => questions)],
    principals: [...new Set([...principalsOf(program), ...inner.flatMap(({ principals }) => principals)])],
    secrets: [...new Set([...secretNamesOf(program), ...inner.flatMap(({ secrets }) => secrets)])],
    hosts: [...new Set([...hostsOf(program), ...inner.flatMap(({ hosts }) => hosts)])],
    notes: check.faults.notes(),
  };
}

function faultsOf(list: FaultList): { faults: readonly ProgramFault[]; omitted: number } {
  const faults = list.list();
  return { faults, omitted: list.count - faults.length };
}

/**
 * Returns every tool that the program calls. Throws an Error for a tool that the check did not read, because its access class would be
 * unknown.
 */
function toolsOf({ steps }: Program, { actions }: Check): Action[] {
  const slugs = callsOf(steps).flatMap(({ tool, http, undo }) => [
    ...(http === undefined ? [tool] : []),
    ...(undo === undefined ? [] : [undo.tool]),
  ]);
  return [...new Set(slugs)].map((slug) => {
    const action = actions.get(slug);
    if (action === undefined) throw new Error(`call of ${slug} was not checked`);
    return action;
  });
}

/**
 * Returns the tools that undo the program's own calls. Returns an empty list if the program does not declare that its calls are undone
 * after a failure (saga).
 */
function ownUndoTools({ steps, sagaOn }: Program, { actions }: Check): Action[] {
  if (sagaOn.length === 0) return [];
  return callsOf(steps).flatMap(({ undo }) => (undo && actions.get(undo.tool)) ?? []);
}

/**
 * Returns a function that gives the access class of a call. For an HTTP request, the method decides. For a known tool, its definition
 * decides. A call of an unknown tool counts as `read`.
 */
function classOf(actions: Check["actions"]): ClassOf {
  return (call) => effectOf(call, actions)?.access ?? "read";
}

/**
 * Returns the names that expressions can use at the start of the program. The ids of steps that could not be read are included, with
 * results of unknown type. So an expression that uses such a step is not reported as a second fault.
 */
function startOf({ program, leftOut, faults }: ReadProgram): Scope {
  const unknown: StepOutcome = { value: { type: undefined }, set: "any", maySkip: false };
  const ids = new Set([...stepsOf(program.steps), ...callsOf(program.steps)].map(({ id }) => id));
  const scope = firstScope(program, { ids, hints: scopeHints() });
  const isInputUnknown = faults.has("/inputSchema") || (program.inputSchema === undefined && faults.has("/input"));
  const areParamsUnknown = faults.has("/params");
  return {
    ...scope,
    input: isInputUnknown ? undefined : scope.input,
    params: areParamsUnknown ? undefined : scope.params,
    constants: areParamsUnknown || changesParams(program) ? undefined : constantsOf(program),
    ended: new Map([...leftOut.steps].map((id) => [id, unknown])),
  };
}

/**
 * How much work one check of a program may spend on constants. `evaluations`: number of constant expressions that it evaluates. `steps`:
 * number of evaluation steps (units of work, see run/cost-of-text.ts). `characters`: total size of the constants that replace references.
 * All together take a few milliseconds.
 */
const evaluated = { evaluations: 50, steps: 300_000, characters: 300_000 };

function constantsOf({ params }: Program): Constants {
  return { params, budget: { ...evaluated } };
}

/**
 * True if a person's answer to a question may change the program's parameters. False if every question of the program leaves them
 * unchanged.
 */
function changesParams({ points }: Program): boolean {
  return [...points.values()].some(({ overrides }) => overrides?.target.kind === "params");
}

function checkInput({ input, inputSchema }: Program, { isInputMade = false }: CheckContext, check: Check): void {
  const { faults } = check;
  if (inputSchema === undefined) return;
  checkSensitiveSchema(inputSchema, ["inputSchema"], check);
  if (faults.has("/input")) return;
  for (const { pointer, message } of createTenantValidators()(inputSchema)(input)) {
    const [, lacked] = pointer === "" ? (/^must have required property '(\w{1,64})'$/.exec(message) ?? []) : [];
    if (lacked !== undefined && isInputMade) continue;
    const text = lacked === undefined ? message : `input lacks ${lacked}, which inputSchema requires`;
    const hint =
      lacked === undefined
        ? "change input, or its inputSchema"
        : `write "input": {${JSON.stringify(lacked)}: …} as a default that callers may replace, or give ${lacked} a default in inputSchema`;
    faults.add("PROGRAM_ARGUMENT_INVALID", ["input", ...pathOf(pointer)], text, hint);
  }
}

/** Reports calls with an undo in a program without a saga: the undo would never run. */
function checkUndos({ steps, sagaOn }: Program, faults: FaultList): void {
  if (sagaOn.length > 0 || faults.has("/saga")) return;
  const hint = 'add "saga": {"on": ["failed", "aborted", "cancelled"]} next to steps, or leave undo out';
  for (const { undo } of callsOf(steps)) {
    if (undo === undefined || faults.has(undo.pointer)) continue;
    const message = "never runs, because the program has no saga";
    faults.addYounger("PROGRAM_MALFORMED", pathOf(undo.pointer), message, hint);
  }
}

/**
 * Checks the result that a program declares. A constant that makes an expression fail is not reported here. If an expression of the result
 * fails while a job runs, only its value is left out and the job still succeeds.
 */
function checkResult(program: Program, given: Scope, { faults, flow }: Pick<Check, "faults" | "flow">): void {
  for (const [name, template] of program.result) {
    const scope = { ...given, constants: undefined, onRead: flow?.readsOfResult(name) };
    const path = ["result", name];
    checkReferences(template, path, scope, faults);
    const types = typesOf(typeOfResult(template, scope));
    if (types === undefined || [...types].some((type) => type !== "object" && type !== "array")) continue;
    const named = template.kind === "reference" ? `${template.reference.text}: ` : "";
    const message = `${named}is ${[...types].join(" or ")}, not a scalar`;
    faults.add("PROGRAM_REFERENCE_INVALID", path, message, "name a text, number or boolean; a result holds no rows");
  }
}

/**
 * Returns the schema of the result that a program declares. Sensitive values are left out, because programs that run this program as a
 * skill cannot read them.
 */
function resultTypeOf({ result }: Program, scope: Scope): JsonSchema {
  const properties = result.flatMap(([name, template]): [string, JsonSchema][] => {
    const types = referencesOf(template).map(({ reference }) => resolveType(scope, reference));
    if (types.some((found) => "type" in found && found.type?.["x-sensitive"] === true)) return [];
    if (template.kind === "text") return [[name, template.otherwise === undefined ? { type: "string" } : {}]];
    if (template.kind === "literal") return [[name, typeOfConstant(template.value)]];
    const isCertain = template.kind !== "reference" || template.otherwise === undefined;
    return [[name, (isCertain ? typeOfResult(template, scope) : undefined) ?? {}]];
  });
  return { type: "object", additionalProperties: false, properties: Object.fromEntries(properties) };
}

/** Returns the type of a value of the program's result. Undefined if the type is not known. */
export function typeOfResult(template: ValueTemplate, scope: Scope): ValueType {
  if (template.kind === "computed") return computedType(template.expression, scope);
  const found = template.kind === "reference" ? resolveType(scope, template.reference) : undefined;
  return found === undefined || "fault" in found ? undefined : found.type;
}

/**
 * Checks that the calls that do not depend on rows fit within the program's limits. Calls that depend on rows cannot be counted before the
 * run: the job fails when it reaches the limit.
 */
function checkLimits(program: Program, { faults, actions }: Check, skills: ReadonlyMap<string, CheckedSkill>): void {
  const { limits } = program;
  const known = { classOf: classOf(actions), skills };
  const { callsMax, writesMax, asksMin } = fixedUseOf(program, known);
  const report = (name: string, count: number, limit: number, what: string) => {
    if (count <= limit) return;
    const message = `is ${limit}, but the steps make up to ${count} ${what}`;
    faults.add("PROGRAM_LIMIT_INVALID", ["limits", name], message, `raise limits.${name} to ${count}`);
  };
  report("toolCalls", callsMax, limits.toolCalls, "calls, not counting calls per row");
  report("writes", writesMax, limits.writes, "writes, not counting writes per row");
  report("asks", asksMin, limits.asks, "questions in every run");
}

/**
 * Creates the object with which all parts of a program are checked. It contains the list of faults, the project's tools and the skills. It
 * also caches compiled schema validators.
 */
function createCheck(
  faults: FaultList,
  { view, isStored = false, isInputMade = false }: Pick<CheckContext, "view" | "isStored" | "isInputMade">,
  { skills, flow }: Pick<Check, "skills" | "flow">,
): Check {
  const shared = new WeakMap<JsonSchema, SchemaValidator>();
  const tenant = createTenantValidators();
  const cached = (cache: WeakMap<JsonSchema, SchemaValidator>, schema: JsonSchema, make: () => SchemaValidator) => {
    const known = cache.get(schema);
    if (known !== undefined) return known;
    const made = lenient(make());
    cache.set(schema, made);
    return made;
  };
  return {
    faults,
    view,
    actions: new Map(),
    isStored,
    isInputMade,
    skills,
    flow,
    tenantValidator: (schema) => cached(shared, schema, () => tenant(schema)),
    validator(action, schema) {
      if (schema === action.inputSchema) return action.validateInput;
      // The schemas of a private tool were written by a project. Their validators use only patterns that need linear time, and they are
      // cached only during this check.
      if (action.ownerProjectId === "") return cached(partValidators, schema, () => createValidator(schema));
      return cached(shared, schema, () => tenant(schema));
    },
  };
}

/**
 * Returns a validator that never throws. A part of a larger schema may not compile by itself, for example because it refers to another
 * part. During the check, the validator then accepts every value. The value is validated only when the program runs.
 */
function lenient(validator: SchemaValidator): SchemaValidator {
  return (value) => {
    try {
      return validator(value);
    } catch {
      return [];
    }
  };
}

/** Finds out with one lookup which of the program's secrets exist, and records a fault for each missing secret. */
async function askSecrets(program: Program, { faults }: Check, context: CheckContext): Promise<void> {
  const names = secretNamesOf(program);
  if (names.length === 0) return;
  const answers = await context.hasSecrets(names);
  const known = new Set(names.filter((_name, index) => answers[index] === true));
  for (const { path, name } of secretUsesOf(program)) {
    if (known.has(name)) continue;
    const hint = text`an approver's key stores it with ${call("PutSecret", { name })}; ${call("ListSecrets")} lists the existing ones`;
    faults.add("PROGRAM_SECRET_UNKNOWN", path, `the project has no secret ${name}`, hint);
  }
}
