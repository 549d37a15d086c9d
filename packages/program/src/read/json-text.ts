import { parseExactJson } from "@svc/core";
import type { JsonValue, Path } from "../json.ts";

/**
 * The reason why a text is not a valid document. `path`: the place of the problem in the document. The path is empty if the place is not
 * known.
 */
export type JsonTextFault = { readonly path: Path; readonly message: string; readonly hint: string };

/** The result of parsing a JSON text. `value`: undefined if the text is not JSON, or is nested too deeply. */
export type JsonText = { readonly value: JsonValue | undefined; readonly faults: readonly JsonTextFault[] };

/**
 * Parses a JSON text that every parser reads in the same way (I-JSON, RFC 7493): no object has the same name twice, and no text has a lone
 * surrogate. Numbers keep all their digits. The name `__proto__` and the character U+0000, which the database cannot store, are also
 * faults. Never throws.
 */
export function parseJsonText(text: string, depthMax: number): JsonText {
  try {
    JSON.parse(text);
  } catch (error) {
    const message = `is not JSON: ${error instanceof Error ? error.message.toWellFormed().slice(0, 200) : "it does not parse"}`;
    return { value: undefined, faults: [{ path: [], message, hint: "send one JSON object as text" }] };
  }
  const { faults, depth } = scan(text, depthMax);
  const value = depth > depthMax ? undefined : (parseExactJson(text, { depthMax }) as JsonValue);
  return { value, faults };
}

type Frame = { readonly names: Set<string> | undefined; name: string; index: number; isName: boolean };

const stringPattern = /"[^"\\]*(?:\\.[^"\\]*)*"/y;

/**
 * Reads the tokens of a text that is known to be JSON. Uses its own stack instead of recursion, so that deep nesting cannot overflow the
 * call stack.
 */
function scan(text: string, depthMax: number): { faults: JsonTextFault[]; depth: number } {
  const faults: JsonTextFault[] = [];
  const stack: Frame[] = [];
  let depth = 0;
  const pathHere = (): Path =>
    stack.slice(0, depthMax).map((frame) => (frame.names === undefined ? frame.index : frame.name));
  for (let at = 0; at < text.length; at++) {
    const frame = stack.at(-1);
    switch (text[at]) {
      case "{":
        stack.push({ names: new Set(), name: "", index: 0, isName: true });
        break;
      case "[":
        stack.push({ names: undefined, name: "", index: 0, isName: false });
        break;
      case "}":
      case "]":
        stack.pop();
        break;
      case ",":
        if (frame === undefined) break;
        frame.index++;
        frame.isName = frame.names !== undefined;
        break;
      case ":":
        if (frame !== undefined) frame.isName = false;
        break;
      case '"': {
        stringPattern.lastIndex = at;
        const token = stringPattern.exec(text)?.[0] ?? '""';
        at += token.length - 1;
        const content = JSON.parse(token) as string;
        checkText(content, frame, pathHere, faults);
        break;
      }
    }
    if (stack.length > depth) depth = stack.length;
  }
  if (depth > depthMax) {
    const message = `is nested ${depth} levels deep; at most ${depthMax} are allowed`;
    return { faults: [{ path: [], message, hint: "flatten it" }], depth };
  }
  return { faults, depth };
}

function checkText(content: string, frame: Frame | undefined, pathHere: () => Path, faults: JsonTextFault[]): void {
  const isName = frame?.isName === true && frame.names !== undefined;
  if (isName) {
    const parent = pathHere().slice(0, -1);
    frame.name = content;
    if (frame.names.has(content)) {
      const message = `has the name ${JSON.stringify(content.slice(0, 80))} twice`;
      faults.push({
        path: [...parent, content],
        message,
        hint: "keep only one of the two: readers of JSON differ in which one they use",
      });
    }
    frame.names.add(content);
    if (content === "__proto__") {
      faults.push({ path: parent, message: "has the name __proto__", hint: "use another name" });
    }
  }
  const path = isName ? pathHere().slice(0, -1) : pathHere();
  if (!content.isWellFormed()) {
    faults.push({ path, message: "holds half a surrogate pair", hint: "write whole Unicode characters" });
  }
  if (content.includes("\0")) {
    faults.push({ path, message: "holds the character U+0000", hint: "leave it out: the database cannot store it" });
  }
}
