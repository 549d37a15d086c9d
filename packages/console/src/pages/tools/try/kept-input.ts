import { parseExactJson } from "@svc/core/exact-json";
import type { Values } from "../../../form/value.ts";
import { keptNames } from "../../../session/kept-names.ts";

/** What was last filled in for a tool. What its definition marks as sensitive is not in it. */
export type KeptInput = { readonly entity: string; readonly values: Values };

const storedAs = keptNames.input;
/** So many tools are remembered, those that were tried last. */
const toolsMax = 40;
/** Longer input is not kept. */
const textMax = 20_000;

function read(): Record<string, KeptInput> {
  try {
    return parseExactJson(localStorage.getItem(storedAs) ?? "{}") as Record<string, KeptInput>;
  } catch {
    // Storage is off: input is kept for as long as the page is open.
    return {};
  }
}

let kept = read();

/** Keeps what was filled in for a tool of a project. */
export function keepInput(projectId: string, toolSlug: string, input: KeptInput): void {
  const key = `${projectId}/${toolSlug}`;
  if (JSON.stringify(input).length > textMax) return;
  const others = Object.entries(kept).filter(([other]) => other !== key);
  kept = Object.fromEntries([...others.slice(-(toolsMax - 1)), [key, input]]);
  try {
    localStorage.setItem(storedAs, JSON.stringify(kept));
  } catch {
    // As above.
  }
}

/** What was last filled in for a tool of a project. */
export function keptInput(projectId: string, toolSlug: string): KeptInput | undefined {
  return kept[`${projectId}/${toolSlug}`];
}
