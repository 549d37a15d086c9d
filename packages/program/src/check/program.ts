import { type Action, createTenantValidators } from "@svc/catalog";
import { canonicalHash } from "../canonical.ts";
import { type ClassOf, estimateOf, fixedUseOf } from "../estimate.ts";
import type { FaultList, ProgramFault } from "../faults.ts";
import { pathOf } from "../json.ts";
import { pinsOf } from "../pins.ts";
import type { Program } from "../program.ts";
import { type ReadProgram, readProgram } from "../read/program.ts";
import { callsOf, stepsOf } from "../steps/index.ts";
import { effectOf } from "../steps/parts/tool-call.ts";
import type { ValueTemplate } from "../template.ts";
import { typesOf, type ValueType } from "../types/schema-type.ts";
import { type Ended, firstScope, resolveType, type Scope } from "../types/scope.ts";
import { accountQuestionsOf, askAccounts } from "./accounts.ts";
import { askContacts, principalsOf } from "./contacts.ts";
import { type Check, type CheckContext, createCheck } from "./context.ts";
import { computedType } from "./expression.ts";
import { askHosts, hostsOf } from "./hosts.ts";
import { type AcceptedProgram, findAccepted, type KnownProgram, keepAccepted } from "./known-programs.ts";
import { checkPoints } from "./points.ts";
import { checkReferences } from "./references.ts";
import { askSecrets, secretNamesOf } from "./secrets.ts";
import { checkSensitiveSchema } from "./sensitive.ts";
import { checkSteps, scopeHints } from "./steps.ts";

/** What a check answers: a program that can be run as it is, or everything that is wrong with it, in the order of the text. */
export type CheckedProgram =
  | AcceptedProgram
  /** `omitted` counts faults beyond the 500 that are listed. */
  | { readonly faults: readonly ProgramFault[]; readonly omitted: number };

/**
 * Checks a program as a whole against what the project may use. Rejects only when a question of the context does. A text that was
 * accepted against the same view is not looked at again: only what the project holds and knows is asked anew.
 */
export async function checkProgram(programJson: string, context: CheckContext): Promise<CheckedProgram> {
  const known = findAccepted(programJson, context);
  if (known !== undefined && (await isGranted(known, context))) return known.accepted;
  return checkWhole(programJson, context);
}

/** Whether the project has what a program asks for. */
async function isGranted(known: KnownProgram, context: CheckContext): Promise<boolean> {
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
  const read = readProgram(programJson);
  if (!("program" in read)) return faultsOf(read.faults);
  const { program, faults, document } = read;
  // What is too large is not looked at further: the bounds are there so that looking takes little time.
  if (faults.list().some(({ code }) => code === "PROGRAM_TOO_LARGE")) return faultsOf(faults);
  if (context.isStored !== true) faults.takeYounger();
  const check = createCheck(faults, context);
  checkInput(program, check);
  const { scope, uses } = checkSteps(program.steps, program.points, startOf(read), check);
  checkPoints(program, uses, read.leftOut, check);
  checkResult(program, scope, faults);
  checkLimits(program, check);
  await Promise.all([
    askAccounts(program.steps, check, context),
    askContacts(program, check, context),
    askSecrets(program, check, context),
    askHosts(program, check, context),
  ]);
  if (faults.count > 0) return faultsOf(faults);
  const accepted = {
    program,
    programHash: canonicalHash(document),
    estimate: estimateOf(program, classOf(check.actions)),
    pins: pinsOf(toolsOf(program, check), context.view),
  };
  const questions = accountQuestionsOf(program.steps, check);
  const asked = { principals: principalsOf(program), secrets: secretNamesOf(program), hosts: hostsOf(program) };
  keepAccepted(programJson, context, { accepted, questions, ...asked });
  return accepted;
}

function faultsOf(list: FaultList): { faults: readonly ProgramFault[]; omitted: number } {
  const faults = list.list();
  return { faults, omitted: list.count - faults.length };
}

/** Every tool that the program calls. Throws an Error for one that no check has met, whose class would not be known. */
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

/** The access class of requests and of the tools that are known to be callable; of others, `read`. */
function classOf(actions: Check["actions"]): ClassOf {
  return (call) => effectOf(call, actions)?.access ?? "read";
}

/** What a step that had to be left out leaves behind is not known, so nothing that names it is a second fault. */
function startOf({ program, leftOut, faults }: ReadProgram): Scope {
  const unknown: Ended = { value: { type: undefined }, set: "any", maySkip: false };
  const ids = new Set([...stepsOf(program.steps), ...callsOf(program.steps)].map(({ id }) => id));
  const scope = firstScope(program, { ids, hints: scopeHints() });
  const isInputUnknown = faults.has("/inputSchema") || (program.inputSchema === undefined && faults.has("/input"));
  return {
    ...scope,
    input: isInputUnknown ? undefined : scope.input,
    params: faults.has("/params") ? undefined : scope.params,
    ended: new Map([...leftOut.steps].map((id) => [id, unknown])),
  };
}

function checkInput({ input, inputSchema }: Program, check: Check): void {
  const { faults } = check;
  if (inputSchema === undefined) return;
  checkSensitiveSchema(inputSchema, ["inputSchema"], check);
  if (faults.has("/input")) return;
  for (const { pointer, message } of createTenantValidators()(inputSchema)(input)) {
    const hint = "mend input, or what inputSchema says of it";
    faults.add("PROGRAM_ARGUMENT_INVALID", ["input", ...pathOf(pointer)], message, hint);
  }
}

function checkResult(program: Program, scope: Scope, faults: FaultList): void {
  for (const [name, template] of program.result) {
    const path = ["result", name];
    checkReferences(template, path, scope, faults);
    const types = typesOf(typeOfResult(template, scope));
    if (types === undefined || [...types].some((type) => type !== "object" && type !== "array")) continue;
    const named = template.kind === "reference" ? `${template.reference.text}: ` : "";
    const message = `${named}is ${[...types].join(" or ")}, not a scalar`;
    faults.add("PROGRAM_REFERENCE_INVALID", path, message, "name text, numbers, true or false; rows are not returned");
  }
}

function typeOfResult(template: ValueTemplate, scope: Scope): ValueType {
  if (template.kind === "computed") return computedType(template.expression, scope);
  const found = template.kind === "reference" ? resolveType(scope, template.reference) : undefined;
  return found === undefined || "fault" in found ? undefined : found.type;
}

/** What is called whatever the rows are must fit the limits; what rows decide about ends at them. */
function checkLimits(program: Program, { faults, actions }: Check): void {
  const { limits } = program;
  const { callsMax, writesMax, asksMin } = fixedUseOf(program, classOf(actions));
  const report = (name: string, count: number, limit: number, what: string) => {
    if (count <= limit) return;
    const message = `is ${limit}, but the steps make up to ${count} ${what}`;
    faults.add("PROGRAM_LIMIT_INVALID", ["limits", name], message, `raise limits.${name} to ${count}`);
  };
  report("toolCalls", callsMax, limits.toolCalls, "calls, rows apart");
  report("writes", writesMax, limits.writes, "writes, rows apart");
  report("asks", asksMin, limits.asks, "questions in any case");
}
