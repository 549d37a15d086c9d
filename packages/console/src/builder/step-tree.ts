import { pointerTo } from "../form/faults.ts";
import { fieldText, isObject, type Json } from "../json/value.ts";
import { stepKindOf } from "../pages/jobs/program.ts";

/** A step of a program, with the steps inside it. `pointer`: JSON Pointer of the step in the document. */
export type StepNode = {
  readonly pointer: string;
  readonly id: string;
  readonly kind: string;
  readonly step: Json;
  readonly blocks: readonly StepBlock[];
};

/**
 * A list of steps inside another step, such as a branch. `list`: JSON Pointer of the list. `words`: a label that says when the steps run,
 * for example on an error.
 */
export type StepBlock = { readonly list: string; readonly words: string; readonly steps: readonly StepNode[] };

/** Returns the steps in a list of steps of a program, each with the steps inside it. `list`: JSON Pointer of the list. */
export function readNodes(value: unknown, list: string): readonly StepNode[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((step: unknown, index) => {
    if (!isObject(step)) return [];
    const pointer = `${list}/${index}`;
    const kind = stepKindOf(step);
    return [{ pointer, id: fieldText(step["id"]), kind, step, blocks: blocksOf(step, kind, pointer) }];
  });
}

function blocksOf(step: Json, kind: string, pointer: string): readonly StepBlock[] {
  const block = (words: string, value: unknown, ...names: readonly string[]): StepBlock => {
    const list = names.reduce(pointerTo, pointer);
    return { list, words, steps: readNodes(value, list) };
  };
  const { onError, parallel } = step;
  const handler =
    isObject(onError) && Array.isArray(onError["do"]) ? [block("If it fails", onError["do"], "onError", "do")] : [];
  switch (kind) {
    case "if":
      return [block("Then", step["then"], "then"), block("Otherwise", step["else"], "else"), ...handler];
    case "map":
      return [block("For each row", step["do"], "do"), ...handler];
    case "until":
      return [block("Each round", step["do"], "do"), ...handler];
    case "parallel": {
      const branches = isObject(parallel) ? Object.entries(parallel) : [];
      return [...branches.map(([name, steps]) => block(`Branch ${name}`, steps, "parallel", name)), ...handler];
    }
    default:
      return handler;
  }
}

/** Returns all steps of a program in order. Steps inside a step follow that step. */
export function allNodes(nodes: readonly StepNode[]): readonly StepNode[] {
  return nodes.flatMap((node) => [node, ...node.blocks.flatMap(({ steps }) => allNodes(steps))]);
}

/** A call of a tool in a program. `pointer`: JSON Pointer of the object with the call. `entity`: the user whose account is used. */
export type ProgramCall = { readonly pointer: string; readonly tool: string; readonly entity: string };

/**
 * Returns the tool calls in a part of a program, at any depth, that name the user whose account is used. `pointer`: JSON Pointer of the
 * part.
 */
export function callsOf(value: unknown, pointer: string): readonly ProgramCall[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => callsOf(item, pointerTo(pointer, index)));
  if (!isObject(value)) return [];
  const { call: tool, entity } = value;
  const own = typeof tool === "string" && typeof entity === "string" ? [{ pointer, tool, entity }] : [];
  // The arguments of a call are data of the app, in which such names mean something else.
  const inner = Object.entries(value).flatMap(([name, part]) =>
    name === "args" ? [] : callsOf(part, pointerTo(pointer, name)),
  );
  return [...own, ...inner];
}
