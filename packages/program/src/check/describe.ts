import type { AccessClass } from "@svc/catalog";
import { type Path, pathOf } from "../json.ts";
import type { Program } from "../program.ts";
import { readProgram } from "../read/program.ts";
import { listsOf, ownCallsOf, ownRunsOf, type Step, stepTitle } from "../steps/index.ts";
import { effectOf } from "../steps/parts/tool-call.ts";
import { fieldType, namesOf, typesOf, type ValueType } from "../types/schema-type.ts";
import type { Scope } from "../types/scope.ts";
import type { CheckContext } from "./context.ts";
import { createFlow, type FlowRecord } from "./flow.ts";
import { atOnce, checkParts, isTooLarge, typeOfResult } from "./program.ts";

/**
 * The kind of data that a step reads. `input`, `params`: values of the program. `value`: the value of an earlier step. `error`: the error of
 * a failed step. `rows`: rows of a set. `count`: the number of rows of a set. `answer`: the answer of an earlier call for the same row.
 * `undone`: the answer of the call that the step's own undo reverses.
 */
export type ReadKind = "input" | "params" | "value" | "error" | "rows" | "count" | "answer" | "undone";

/**
 * Data that a part of a program reads. `from`: where the data comes from: the id of a step, `input` or `params`. `path`: the read part of
 * this data; empty for all of it.
 */
export type ProgramRead = { readonly what: ReadKind; readonly from: string; readonly path: string };

/** A name that a step can use, such as `steps.total.sum`, with its JSON types, such as `string or null`. Empty if they are not known. */
export type KnownName = { readonly name: string; readonly type: string };

/**
 * A step of a program, or a call of a `map` step, described for people and tools that follow the program's data: its place, its tool, and
 * the data that it reads.
 */
export type DescribedStep = {
  readonly id: string;
  readonly kind: Step["kind"];
  /** Id of the step that contains the step. Empty for a step of the program's own list. */
  readonly parentId: string;
  /** The list of the containing step: `then`, `else`, `do`, `onError`, or the name of a branch of a `parallel` step. */
  readonly branch: string;
  readonly title: string;
  /** Slug of the tool or skill that the step calls, `http` for a request. Of several calls, the first. Empty if it calls none. */
  readonly tool: string;
  /** Name of the app that the step calls. Empty if it calls none. */
  readonly toolkitName: string;
  /** The strongest access class of the calls that the step makes. Undefined if it makes none. */
  readonly access: AccessClass | undefined;
  readonly reads: readonly ProgramRead[];
  readonly scope: readonly KnownName[];
  /** True if the step can use more names than `scope` lists. */
  readonly hasMoreNames: boolean;
};

/** The description of a program for people and tools: its steps, its result, and the data that flows between them. */
export type ProgramDescription = {
  readonly title: string;
  readonly steps: readonly DescribedStep[];
  readonly result: readonly (KnownName & { readonly reads: readonly ProgramRead[] })[];
};

/**
 * Describes a program: its steps in order, the data that each step reads, and the names that it can use. A faulty program is described as
 * far as possible; unknown names are left out. Returns undefined if it cannot be read or is too large. Accounts, contacts, secrets and hosts
 * are not looked up.
 */
export async function describeProgram(
  programJson: string,
  context: CheckContext,
): Promise<ProgramDescription | undefined> {
  const { run = atOnce } = context;
  const read = run(() => readProgram(programJson));
  if (!("program" in read) || isTooLarge(read)) return undefined;
  const flow = createFlow();
  const { check, skills, scope } = await checkParts(read, context, flow);
  const { program } = read;
  return run(() => {
    const placed = placedSteps(program.steps);
    const known = new Map(placed.map(({ step }) => [step.id, step]));
    const found = { program, known, flow, skills, check };
    const result = program.result.map(([name, template]) => ({
      ...{ name, type: typeText(typeOfResult(template, scope)) },
      reads: flow.usesOfResult(name).flatMap((use) => toRead(use, undefined, known)),
    }));
    return { title: program.title, steps: placed.map((at) => describeStep(at, found)), result };
  });
}

/** The results of the check from which steps are described. `known`: the described steps, by id. */
type DescribedParts = Pick<Awaited<ReturnType<typeof checkParts>>, "skills" | "check"> & {
  readonly program: Program;
  readonly known: ReadonlyMap<string, Step>;
  readonly flow: FlowRecord;
};

function describeStep(at: Placed, { program, known, flow, skills, check }: DescribedParts): DescribedStep {
  const { step, parent } = at;
  const tool = toolOf(step);
  const toolkit = check.view.toolkits.get(check.actions.get(tool)?.toolkitSlug ?? "");
  const { scope, hasMoreNames } = firstNames(namesIn(step, flow.scopeOf(step)));
  const ofSkills = ownRunsOf(step).flatMap((name) => {
    const skill = skills.get(name);
    return skill !== undefined && "accepted" in skill ? skill.accepted.estimate.accessClasses : [];
  });
  const ofCalls = ownCallsOf(step).flatMap((call) => effectOf(call, check.actions)?.access ?? []);
  return {
    ...{ id: step.id, kind: step.kind, parentId: parent?.id ?? "", branch: branchOf(step, parent), tool },
    title: stepTitle(step, program.points),
    toolkitName: toolkit?.name ?? "",
    access: strongest([...ofSkills, ...ofCalls]),
    reads: flow.usesOf(step).flatMap((use) => toRead(use, at, known)),
    scope,
    hasMoreNames,
  };
}

/** A step with the step that contains it. */
type Placed = { readonly step: Step; readonly parent: Step | undefined };

/** Returns every step of a program in program order, and the calls of `map` steps. A step without an id of its own is left out. */
function placedSteps(steps: Program["steps"]): readonly Placed[] {
  const found = new Map<string, Placed>();
  const add = (list: readonly Step[], parent: Step | undefined) => {
    for (const step of list) {
      if (step.id !== "" && !found.has(step.id)) found.set(step.id, { step, parent });
      if (step.kind === "map") add(step.calls, step);
      for (const inner of listsOf(step)) add(inner, step);
    }
  };
  add(steps, undefined);
  return [...found.values()];
}

/** Returns the name of the list that contains a step, from the place of the step in the containing step. */
function branchOf(step: Step, parent: Step | undefined): string {
  if (parent === undefined) return "";
  const path = pathOf(step.pointer.slice(parent.pointer.length));
  return (path[0] === "onError" ? path[0] : path.at(-2)) ?? "";
}

function toolOf(step: Step): string {
  const [call] = ownCallsOf(step);
  const [skill] = ownRunsOf(step);
  return call?.tool ?? skill ?? "";
}

const classes = ["destructive", "write", "read"] as const satisfies readonly AccessClass[];

function strongest(found: readonly AccessClass[]): AccessClass | undefined {
  return classes.find((access) => found.includes(access));
}

type UsedName = ReturnType<FlowRecord["usesOf"]>[number];

/** Returns the data that a name stands for. Returns none if it comes from a step that could not be read. */
function toRead({ root, path }: UsedName, at: Placed | undefined, known: ReadonlyMap<string, Step>): ProgramRead[] {
  const [first = "", ...rest] = path;
  const read = (what: ReadKind, from: string | undefined, inside: Path): ProgramRead[] =>
    from !== undefined && known.has(from) ? [{ what, from, path: pathText(inside) }] : [];
  switch (root) {
    case "input":
    case "params":
      return [{ what: root, from: root, path: pathText(path) }];
    case "steps": {
      const isError = rest[0] === "error" && known.get(String(first))?.onError !== undefined;
      return read(isError ? "error" : "value", String(first), rest);
    }
    case "rows":
      return read("count", String(first), []);
    case "set":
      return read("rows", String(first), []);
    case "row":
      return read("rows", sourceOf(at?.step) ?? sourceOf(at?.parent), path);
    case "calls":
      return read("answer", String(first), rest);
    case "output":
      return read("undone", at?.step.id, path);
  }
}

/** Returns the set whose rows a step takes one by one, or undefined. */
function sourceOf(step: Step | undefined): string | undefined {
  return step !== undefined && "source" in step ? step.source : undefined;
}

function pathText(path: Path): string {
  return path.reduce<string>((text, part) => {
    return typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`;
  }, "");
}

/** Maximum number of names that the description of one step lists. */
const namesMax = 100;

function firstNames(names: Iterable<KnownName>): Pick<DescribedStep, "scope" | "hasMoreNames"> {
  const scope: KnownName[] = [];
  for (const name of names) {
    if (scope.length === namesMax) return { scope, hasMoreNames: true };
    scope.push(name);
  }
  return { scope, hasMoreNames: false };
}

/** Levels of fields below the first name of a value, such as 2 for `steps.me.address.city`. */
const levelsMax = 2;

/**
 * Yields the names that a step can use: those of the current row first, then the program's values, then those of earlier steps. A program
 * can have very many, so the caller takes only as many as it needs.
 */
function* namesIn(step: Step, scope: Scope | undefined): Generator<KnownName> {
  if (scope === undefined) return;
  const { input, params, ended, calls, row = ended.get(sourceOf(step) ?? "")?.set } = scope;
  if (row !== undefined && row !== "any")
    for (const [name, type] of row.fields) yield* namesUnder(`row.${name}`, type, 1);
  for (const [id, { type }] of calls ?? []) yield* namesUnder(`calls.${id}`, type, levelsMax);
  yield* fieldNames("input", input, levelsMax);
  yield* fieldNames("params", params, levelsMax);
  for (const [id, { value, set }] of ended) {
    if (value !== "none") yield* namesUnder(`steps.${id}`, value.type, levelsMax);
    if (set !== undefined) yield { name: `rows.${id}`, type: "number" };
  }
}

function* namesUnder(name: string, type: ValueType, levels: number): Generator<KnownName> {
  yield { name, type: typeText(type) };
  yield* fieldNames(name, type, levels);
}

function* fieldNames(name: string, type: ValueType, levels: number): Generator<KnownName> {
  if (type === undefined || levels === 0) return;
  for (const field of namesOf(type)) {
    const found = fieldType(type, field);
    if ("type" in found) yield* namesUnder(`${name}.${field}`, found.type, levels - 1);
  }
}

function typeText(type: ValueType): string {
  return [...(typesOf(type) ?? [])].join(" or ");
}
