import { parseExactJson } from "@svc/core/exact-json";
import type { Values } from "../../../form/value.ts";
import { keptNames } from "../../../session/kept-names.ts";

/** The user's last input for a tool, without the values that the tool's definition marks as sensitive. */
export type KeptInput = { readonly entity: string; readonly values: Values };

const storedAs = keptNames.input;
/** Maximum number of tools whose input is kept. The browser keeps the input of the tools used last. */
const toolsMax = 40;
/** Maximum length of a tool's input that the browser keeps for the next visit, in characters of the input's JSON text. */
const textMax = 20_000;

function read(): Record<string, KeptInput> {
  try {
    return parseExactJson(localStorage.getItem(storedAs) ?? "{}") as Record<string, KeptInput>;
  } catch {
    // The browser's storage is not available, so input is kept only while the page is open.
    return {};
  }
}

let kept = read();

/** Stores the user's input for a tool of a project in the browser. */
export function keepInput(projectId: string, toolSlug: string, input: KeptInput): void {
  const key = `${projectId}/${toolSlug}`;
  if (JSON.stringify(input).length > textMax) return;
  const others = Object.entries(kept).filter(([other]) => other !== key);
  kept = Object.fromEntries([...others.slice(-(toolsMax - 1)), [key, input]]);
  try {
    localStorage.setItem(storedAs, JSON.stringify(kept));
  } catch {
    // The browser's storage is not available, so the input is kept only while the page is open.
  }
}

/** Returns the user's last input for a tool of a project; undefined if there is none. */
export function keptInput(projectId: string, toolSlug: string): KeptInput | undefined {
  return kept[`${projectId}/${toolSlug}`];
}
