import { createTenantValidators } from "@svc/catalog";
import { canonicalHash } from "./canonical.ts";
import { type Check, type CheckContext, createCheck } from "./check-context.ts";
import { checkPoints } from "./check-points.ts";
import { checkReferences } from "./check-references.ts";
import { checkSteps } from "./check-steps.ts";
import { certainAsksOf, estimateOf, fixedUseOf, type ProgramEstimate } from "./estimate.ts";
import { type FaultList, pathOf } from "./faults.ts";
import { programFaultsMax } from "./limits.ts";
import { type Pins, pinsOf } from "./pins.ts";
import { callsOf, type Path, type Program, type ProgramFault, stepsOf } from "./program.ts";
import { type ReadProgram, readProgram } from "./read-program.ts";
import { typesOf } from "./schema-type.ts";
import { type Ended, firstScope, resolveType, type Scope } from "./scope.ts";

/** What a check answers: a program that can be run as it is, or everything that is wrong with it, in the order of the text. */
export type CheckedProgram =
  | {
      readonly program: Program;
      readonly programHash: string;
      readonly estimate: ProgramEstimate;
      readonly pins: Pins;
    }
  /** `omitted` counts faults beyond the 500 that are listed. */
  | { readonly faults: readonly ProgramFault[]; readonly omitted: number };

/** Checks a program as a whole against what the project may use. Rejects only when a question of the context does. */
export async function checkProgram(programJson: string, context: CheckContext): Promise<CheckedProgram> {
  const read = readProgram(programJson);
  if (!("program" in read)) return faultsOf(read.faults);
  const { program, faults, document } = read;
  // What is too large is not looked at further: the bounds are there so that looking takes little time.
  if (faults.list().some(({ code }) => code === "PROGRAM_TOO_LARGE")) return faultsOf(faults);
  const check = createCheck(faults, context.view);
  checkInput(program, faults);
  const { scope, uses } = checkSteps(program, startOf(read), check);
  checkPoints(program, uses, read.broken, check);
  checkResult(program, scope, faults);
  checkLimits(program, check);
  await Promise.all([askAccounts(check, context), askContacts(program, check, context)]);
  if (faults.count > 0) return faultsOf(faults);
  return {
    program,
    programHash: canonicalHash(document),
    estimate: estimateOf(program, classOf(check)),
    pins: pinsOf([...check.actions.values()], context.view),
  };
}

function faultsOf(list: FaultList): { faults: readonly ProgramFault[]; omitted: number } {
  const faults = list.list();
  return { faults: faults.slice(0, programFaultsMax), omitted: Math.max(0, faults.length - programFaultsMax) };
}

function classOf({ actions }: Check) {
  return (slug: string) => actions.get(slug)?.class ?? "read";
}

/** What a step that had to be left out leaves behind is not known, so nothing that names it is a second fault. */
function startOf({ program, broken, faults }: ReadProgram): Scope {
  const unknown: Ended = { value: { type: undefined }, set: "any", maySkip: false };
  const ids = new Set(
    [...stepsOf(program.steps)].map(({ id }) => id).concat(callsOf(program.steps).map(({ id }) => id)),
  );
  const scope = firstScope(program, ids);
  const isInputUnknown = faults.has("/inputSchema") || (program.inputSchema === undefined && faults.has("/input"));
  return {
    ...scope,
    input: isInputUnknown ? undefined : scope.input,
    params: faults.has("/params") ? undefined : scope.params,
    ended: new Map([...broken.steps].map((id) => [id, unknown])),
  };
}

function checkInput({ input, inputSchema }: Program, faults: FaultList): void {
  if (inputSchema === undefined || faults.has("/input")) return;
  for (const { pointer, message } of createTenantValidators()(inputSchema)(input)) {
    faults.add(
      "PROGRAM_ARGUMENT_INVALID",
      ["input", ...pathOf(pointer)],
      message,
      "mend input, or what inputSchema says of it",
    );
  }
}

function checkResult(program: Program, scope: Scope, faults: FaultList): void {
  for (const [name, template] of program.result) {
    const path = ["result", name];
    checkReferences(template, path, scope, faults);
    if (template.kind !== "reference") continue;
    const found = resolveType(scope, template.reference);
    const types = "fault" in found ? undefined : typesOf(found.type);
    if (types === undefined || [...types].some((type) => type !== "object" && type !== "array")) continue;
    const message = `${template.reference.text}: is ${[...types].join(" or ")}, not a scalar`;
    faults.add("PROGRAM_REFERENCE_INVALID", path, message, "name text, numbers, true or false; rows are not returned");
  }
}

/** What is called whatever the rows are must fit the limits; what rows decide about ends at them. */
function checkLimits(program: Program, check: Check): void {
  const { limits } = program;
  const { calls, writes } = fixedUseOf(program, classOf(check));
  const asks = certainAsksOf(program);
  const report = (name: string, count: number, limit: number, what: string) => {
    if (count <= limit) return;
    const path: Path = ["limits", name];
    check.faults.add(
      "PROGRAM_LIMIT_INVALID",
      path,
      `is ${limit}, but the steps make up to ${count} ${what}`,
      `raise limits.${name} to ${count}`,
    );
  };
  report("toolCalls", calls, limits.toolCalls, "calls, rows apart");
  report("writes", writes, limits.writes, "writes, rows apart");
  report("asks", asks, limits.asks, "questions in any case");
}

async function askAccounts({ accounts, faults }: Check, context: CheckContext): Promise<void> {
  if (accounts.length === 0) return;
  const keyOf = ({ toolkit, entity }: (typeof accounts)[number]["question"]) => JSON.stringify([toolkit.slug, entity]);
  const questions = new Map(accounts.map(({ question }) => [keyOf(question), question]));
  const answers = await context.hasAccounts([...questions.values()]);
  const held = new Set([...questions.keys()].filter((_key, index) => answers[index] === true));
  for (const { path, question } of accounts) {
    if (held.has(keyOf(question))) continue;
    const message = `entity ${question.entity} has no active account of ${question.toolkit.slug}`;
    faults.add("PROGRAM_ACCOUNT_MISSING", path, message, "connect one with InitiateConnection, or name another entity");
  }
}

async function askContacts(program: Program, { faults }: Check, context: CheckContext): Promise<void> {
  const hops: { readonly path: Path; readonly principal: string }[] = program.approval.escalation.map(
    (principal, index) => ({
      path: ["approval", "escalation", index, "principal"],
      principal,
    }),
  );
  for (const point of program.points.values()) {
    point.escalation.forEach(({ principal }, index) => {
      hops.push({ path: [...pathOf(point.pointer), "escalation", index, "principal"], principal });
    });
  }
  // A hop that could not be read has an empty principal and its fault already.
  const principals = [...new Set(hops.map(({ principal }) => principal))].filter((principal) => principal !== "");
  if (principals.length === 0) return;
  const answers = await context.hasContacts(principals);
  const known = new Set(principals.filter((_principal, index) => answers[index] === true));
  for (const { path, principal } of hops) {
    if (principal === "" || known.has(principal)) continue;
    faults.add(
      "PROGRAM_CONTACT_UNKNOWN",
      path,
      `there is no contact ${principal}`,
      "PutContact makes one; ListContacts lists them",
    );
  }
}
