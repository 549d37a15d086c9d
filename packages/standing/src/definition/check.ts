import type { Fault, JsonObject, ProjectId, Role } from "@svc/core";
import type { JobStarter, StartableProgram } from "@svc/jobs";
import { canonicalHash, examineGiven, pointerOf } from "@svc/program";
import { definitionFaulty } from "../errors.ts";
import type { Definition } from "./definition.ts";
import type { DefinitionFault } from "./faults.ts";
import { readDefinition } from "./read.ts";

/** What is to be checked, and for whom. */
export type DefinitionCheck = {
  readonly projectId: ProjectId;
  readonly role: Role;
  readonly definitionJson: string;
  readonly nowMs: number;
};

/** A definition that can stand. */
export type CheckedDefinition = {
  readonly definition: Definition;
  readonly hash: string;
  /** What a run of it does: see `planHashOf`. */
  readonly planHash: string;
  readonly start: StartableProgram;
};

/** SHA-256 of the canonical JSON of a definition, in hex; undefined for a text that is none. */
export async function hashOfDefinition(definitionJson: string): Promise<string | undefined> {
  const { document } = await readDefinition(definitionJson, 0);
  return document && canonicalHash(document);
}

/** Checks a definition as a whole against what the project may use; all its faults are one refusal. */
export async function checkDefinition(
  starter: JobStarter,
  { projectId, role, definitionJson, nowMs }: DefinitionCheck,
): Promise<CheckedDefinition | { readonly refusal: Fault }> {
  const { faults, definition, document } = await readDefinition(definitionJson, nowMs);
  const program = document?.program;
  const isObject = typeof program === "object" && program !== null && !Array.isArray(program);
  const start = isObject
    ? await starter.check({ projectId, role, programJson: JSON.stringify(program) })
    : { faults: [], omitted: 0 };
  if ("refusal" in start && faults.count === 0) return start;
  if (definition !== undefined && "program" in start) checkInput(definition, start, faults.add);
  const ofProgram: DefinitionFault[] =
    "faults" in start ? start.faults.map((fault) => ({ ...fault, pointer: `/program${fault.pointer}` })) : [];
  const own = faults.list();
  const all = [...own, ...ofProgram];
  const omitted = faults.count - own.length + ("faults" in start ? start.omitted : 0);
  if (all.length > 0 || definition === undefined || document === undefined || !("program" in start)) {
    return { refusal: definitionFaulty(all, omitted) };
  }
  return { definition, hash: canonicalHash(document), planHash: planHashOf(document, start), start };
}

/**
 * The hash of what a run of a definition does: its program, what that is given, what decides whether it is, and the definitions of tools
 * that it runs on.
 */
function planHashOf(document: JsonObject, { programHash, pins }: StartableProgram): string {
  const { input = null, when = null } = document;
  return canonicalHash({ programHash, input, when, pins });
}

/** That what the definition makes is what the program takes. */
function checkInput(
  { input }: Definition,
  { program: { inputSchema } }: StartableProgram,
  add: (code: "INPUT_MISMATCH", path: readonly (string | number)[], message: string, hint: string) => void,
): void {
  if (input === undefined) return;
  if (inputSchema === undefined) {
    add("INPUT_MISMATCH", ["input"], "is given, and the program declares no inputSchema", "declare what it takes");
    return;
  }
  for (const { path, message } of examineGiven(input, inputSchema).slice(0, 100)) {
    add("INPUT_MISMATCH", ["input", ...path], message, `mend it, or the program's inputSchema${pointerOf(path)}`);
  }
}
