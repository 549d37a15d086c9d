import type { Action } from "@svc/catalog";
import { displayText, JsonTooLargeError, parseExactJson, singleLine } from "@svc/core";
import { maskNames, sensitiveNames } from "./mask.ts";
import type { Redactor } from "./redact.ts";

const excerptMax = 1000;
/** More of an app's text is not even looked at. */
const readMax = 65_536;
const bytesPerUnit = 3;
/** Of a failure whose values would have to be masked, with more of them or of so many bytes, nothing is shown: all of it is to be read. */
const valuesMax = 10_000;
const maskedBytesMax = 524_288;

/** A text of an app's for people to read: without secrets, cut; control characters would break terminals, logs and rows. */
export function excerpt(text: string, redact: Redactor): string {
  const shown = singleLine(redact(text.slice(0, readMax)))
    .trim()
    .toWellFormed();
  return shown.length > excerptMax ? `${shown.slice(0, excerptMax).toWellFormed()} ...` : shown;
}

/** What an app says of a failure. Values under the tool's sensitive names are masked where the answer is JSON. */
export function excerptOfBody(
  action: Action,
  { body, contentType }: { readonly body: Buffer; readonly contentType?: string | undefined },
  redact: Redactor,
): string {
  const names = sensitiveNamesOf(action);
  if (names.size > 0 && body.byteLength > maskedBytesMax) return "";
  const bytesMax = bytesPerUnit * readMax;
  const isCut = names.size === 0 && body.byteLength > bytesMax;
  const { text, isLossy } = displayText(isCut ? body.subarray(0, bytesMax) : body, { contentType, isCut });
  const shown = names.size === 0 ? excerpt(text, redact) : maskedExcerpt(names, text, redact);
  return isLossy ? `${shown} (not all of it is text: some bytes are shown as \ufffd)` : shown;
}

function maskedExcerpt(names: ReadonlySet<string>, text: string, redact: Redactor): string {
  try {
    return excerpt(JSON.stringify(maskNames(names, parseExactJson(text, { valuesMax }))), redact);
  } catch (error) {
    if (error instanceof JsonTooLargeError) return "";
    // Not JSON: there are no names in it.
    return excerpt(text, redact);
  }
}

const namesOfActions = new WeakMap<Action, ReadonlySet<string>>();

function sensitiveNamesOf(action: Action): ReadonlySet<string> {
  let names = namesOfActions.get(action);
  if (names === undefined) {
    names = new Set([...sensitiveNames(action.inputSchema), ...sensitiveNames(action.outputSchema)]);
    namesOfActions.set(action, names);
  }
  return names;
}
