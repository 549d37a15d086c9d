import { isObject, parseExactJson } from "@svc/core";
import { mask } from "@svc/tools";

/**
 * The text of a program as its job shows it: what the inputSchema marks as sensitive is `***` in its input. Any other program is as it
 * was submitted, to the byte.
 */
export function shownProgram(programJson: string): string {
  // Any name may be written with escapes.
  if (!programJson.includes("x-sensitive") && !programJson.includes("\\u")) return programJson;
  const document = parseExactJson(programJson) as Readonly<Record<string, unknown>>;
  const { input, inputSchema } = document;
  if (!isObject(inputSchema) || input === undefined) return programJson;
  const shown = mask(inputSchema, input);
  const isSame = JSON.stringify(shown) === JSON.stringify(input);
  return isSame ? programJson : JSON.stringify({ ...document, input: shown });
}

/** The title that a program gives itself; empty where it has none. */
export function titleOf(programJson: string): string {
  const document = JSON.parse(programJson) as { readonly title?: unknown };
  return typeof document.title === "string" ? document.title : "";
}
