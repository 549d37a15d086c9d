import type { Action } from "@svc/catalog";
import { isObject, parseTemplate, placeholdersOf } from "@svc/core";
import { type AnyObject, propertiesOf } from "./refusal.ts";

/** The app's response: a status and a JSON body. `body` is undefined if there is none. */
export type AppReply = { readonly status: number; readonly body: unknown };

/**
 * Returns a result in the form of the app's response. The result is at the path from which the tool's definition reads results. The
 * response contains the fields that the error rule of the tool's definition checks.
 */
export function replyWith(action: Action, result: unknown): AppReply {
  const { unwrap, under, error } = action.response;
  if (isWithoutBody(action)) return { status: 204, body: undefined };
  const bare = under !== "" && isObject(result) ? result[under] : result;
  let body = placed(undefined, stepsOf(unwrap), bare);
  if (error?.unless !== undefined) body = placed(body, stepsOf(error.unless), true);
  if (error?.path !== undefined) body = without(body, stepsOf(error.path));
  return { status: 200, body };
}

/**
 * Returns an error in the form of the app's response. If the definition has an error rule (how svc recognizes an error in a 2xx answer),
 * the status is 200. The error is then in the field that the rule checks. Otherwise the status is 422.
 */
export function replyWithError(action: Action, message: string): AppReply {
  const { error } = action.response;
  if (error?.path === undefined && error?.unless === undefined) return { status: 422, body: { error: { message } } };
  let body: unknown;
  if (error.unless !== undefined) body = placed(body, stepsOf(error.unless), false);
  if (error.message !== undefined) body = placed(body, stepsOf(error.message), message);
  if (error.path !== undefined && lookUp(body, stepsOf(error.path)) === undefined) {
    body = placed(body, stepsOf(error.path), { message });
  }
  return { status: 200, body };
}

/**
 * True if the app may answer without a body. This is so if the tool's definition declares a result for empty answers (`empty`), and this
 * result contains every field of the output.
 */
function isWithoutBody({ response: { empty }, outputSchema }: Action): boolean {
  if (empty === undefined) return false;
  const names = propertiesOf(outputSchema).map(([name]) => name);
  return names.every((name) => isObject(empty) && Object.hasOwn(empty, name));
}

type Steps = readonly (string | number)[];

/**
 * Returns the names and indexes that make up a path. For example, `errors[0].message` gives `errors`, 0 and `message`. An empty path means
 * the whole value and gives an empty list.
 */
function stepsOf(path: string): Steps {
  if (path === "") return [];
  const [placeholder] = placeholdersOf(parseTemplate(`{{body.${path}}}`));
  return placeholder?.path ?? [];
}

/**
 * Returns a copy of `whole` in which the value at a path is replaced by `value`. Objects and lists that are missing on the path are
 * created.
 */
function placed(whole: unknown, [step, ...others]: Steps, value: unknown): unknown {
  if (step === undefined) return value;
  if (typeof step === "number") {
    const items: unknown[] = Array.isArray(whole) ? [...whole] : [];
    items[step] = placed(items[step], others, value);
    return Array.from(items, (item) => item ?? null);
  }
  const fields: AnyObject = isObject(whole) ? whole : {};
  return { ...fields, [step]: placed(Object.hasOwn(fields, step) ? fields[step] : undefined, others, value) };
}

function without(whole: unknown, [step, ...others]: Steps): unknown {
  if (step === undefined) return whole;
  if (Array.isArray(whole)) {
    return others.length === 0
      ? whole.filter((_item, index) => index !== step)
      : whole.map((item, index) => (index === step ? without(item, others) : item));
  }
  if (!isObject(whole) || !Object.hasOwn(whole, step)) return whole;
  const { [step]: held, ...rest } = whole;
  return others.length === 0 ? rest : { ...rest, [step]: without(held, others) };
}

function lookUp(whole: unknown, steps: Steps): unknown {
  return steps.reduce<unknown>((held, step) => {
    if (Array.isArray(held)) return typeof step === "number" ? held[step] : undefined;
    return isObject(held) && Object.hasOwn(held, step) ? held[step] : undefined;
  }, whole);
}
