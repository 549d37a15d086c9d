import {
  isEntityId,
  isRawJson,
  parseTemplate,
  parseTemplateTree,
  renderTemplate,
  renderTemplateTree,
  scalarText,
  type Template,
  type TemplateTree,
  TemplateValueError,
} from "@svc/core";
import type { SchemaFault } from "../check/schema-faults.ts";
import type { NormalizedPost, NormalizeFault, Post } from "../model.ts";
import type { TriggerDocument } from "../read/documents.ts";
import { createValidator, type ValidatorFactory } from "../schema/json-schema.ts";
import { readProviderTime } from "../schema/provider-time.ts";

/**
 * Maximum characters of two keys of an event: the key that identifies its account, and the key by which repeated events are recognized. The
 * limit exists because database indexes limit the size of an entry.
 */
const keyLengthMax = 512;

/**
 * Maximum characters of the payload of an event of a private toolkit (an app that one project defined for itself). Its templates may repeat
 * parts of a webhook post many times.
 */
const privatePayloadMax = 2_097_152;

/**
 * Returns a function that turns a webhook post into the content of an event, and never throws. `validators`: makes the payload check of a
 * private toolkit. Omit it for all other toolkits.
 */
export function compileNormalize(
  document: TriggerDocument,
  validators?: ValidatorFactory,
): (post: Post) => NormalizedPost | NormalizeFault {
  const payloadTree = parseTemplateTree(document.payload);
  const account = parseTemplate(document.account ?? "");
  const entity = parseTemplate(document.entity ?? "");
  const dedupe = parseTemplate(document.dedupe ?? "");
  const occurredAt = parseTemplate(document.occurredAt ?? "");
  const validate = (validators ?? createValidator)(document.output);
  return (post) => {
    try {
      const payload = (renderTemplateTree(payloadTree, post) ?? {}) as Record<string, unknown>;
      if (validators !== undefined && isLargerThan(privatePayloadMax, payload))
        return { fault: `the payload has more than ${privatePayloadMax} characters` };
      const faults = validate(payload);
      if (faults.length > 0) return { fault: describeFaults(faults, payloadTree, payload) };
      return {
        payload,
        account: toKey("account", renderTemplate(account, post)),
        entityId: toEntityId(renderTemplate(entity, post)),
        dedupe: toKey("dedupe", renderTemplate(dedupe, post)),
        occurredAt: timeOf(occurredAt, post),
      };
    } catch (error) {
      if (error instanceof TemplateValueError) return { fault: error.plain };
      if (error instanceof PostFault) return { fault: error.message };
      throw error;
    }
  };
}

class PostFault extends Error {}

function toKey(field: string, value: unknown): string {
  if (value === undefined || value === null) return "";
  const text = scalarText(value);
  if (text === undefined) throw new PostFault(`${field} must be a text or a number, and is an object or a list`);
  if (text.length > keyLengthMax) {
    throw new PostFault(`${field} must have at most ${keyLengthMax} characters, and has ${text.length}`);
  }
  // PostgreSQL's text type cannot store the character NUL.
  if (text.includes("\0")) throw new PostFault(`${field} must not contain the character NUL`);
  return text;
}

function toEntityId(value: unknown): string {
  const text = toKey("entity", value);
  if (text === "" || isEntityId(text)) return text;
  throw new PostFault("entity must have 1 to 200 characters without line breaks");
}

/**
 * True if the JSON text of a value has more than about `max` characters. Parts that occur several times count each time. Takes a time that
 * depends on `max`, not on the size of the value.
 */
function isLargerThan(max: number, value: unknown): boolean {
  const waiting: unknown[] = [value];
  let size = 0;
  while (waiting.length > 0 && size <= max) {
    const next = waiting.pop();
    if (typeof next === "string") size += next.length + 2;
    else if (typeof next !== "object" || next === null || isRawJson(next)) size += scalarText(next)?.length ?? 4;
    else if (Array.isArray(next)) {
      size += next.length + 2;
      if (size <= max) for (const item of next) waiting.push(item);
    } else {
      for (const [key, item] of Object.entries(next)) {
        size += key.length + 4;
        waiting.push(item);
      }
    }
  }
  return size > max;
}

/**
 * Returns the time of the event in a webhook post, in epoch milliseconds. Returns undefined if the time is missing or unreadable. The event
 * is then stored without a time of the app.
 */
function timeOf(template: Template, post: Post): number | undefined {
  try {
    return readProviderTime(renderTemplate(template, post));
  } catch (error) {
    if (error instanceof TemplateValueError) return undefined;
    throw error;
  }
}

/** Maximum number of errors that the detail of a rejected webhook post lists. */
const describedMax = 5;

function describeFaults(faults: readonly SchemaFault[], tree: TemplateTree, payload: unknown): string {
  const texts = faults.slice(0, describedMax).map((fault) => describeFault(fault, tree, payload));
  const others = faults.length > describedMax ? [`and ${faults.length - describedMax} more`] : [];
  return [...new Set(texts), ...others].join("; ");
}

/**
 * Returns an error in the payload of a trigger as text. The text names only parts of the trigger's definition, because names and values of
 * the webhook post may be secrets.
 */
function describeFault({ pointer, message, property }: SchemaFault, tree: TemplateTree, payload: unknown): string {
  const { declared, inside } = splitPointer(pointer, tree);
  const place = `payload${declared.map((step) => `.${step}`).join("")}`;
  const where = inside.length === 0 ? place : `${place}, inside of what the post brings,`;
  return `${where} ${isGiven(payload, pointer, property) ? "must not have a property that output does not name" : message}`;
}

/**
 * Splits the steps of a JSON Pointer into two lists. `declared`: the steps that the trigger's definition of the payload contains. `inside`:
 * the remaining steps, inside a value of the webhook post.
 */
function splitPointer(pointer: string, payloadTree: TemplateTree): { declared: string[]; inside: string[] } {
  const steps = stepsOf(pointer);
  let tree: TemplateTree | undefined = payloadTree;
  let length = 0;
  for (; length < steps.length; length++) {
    const step: string = steps[length] ?? "";
    if (tree?.kind === "object") tree = tree.entries.find(([key]) => key === step)?.[1];
    else if (tree?.kind === "list") tree = tree.items[Number(step)];
    else if (tree?.kind !== "constant") break;
  }
  return { declared: steps.slice(0, length), inside: steps.slice(length) };
}

/** Returns true if the object at `pointer` in the payload has this property. False if `property` is undefined. */
function isGiven(payload: unknown, pointer: string, property: string | undefined): boolean {
  if (property === undefined) return false;
  let value = payload;
  for (const step of stepsOf(pointer)) value = (value as Readonly<Record<string, unknown>> | undefined)?.[step];
  return typeof value === "object" && value !== null && Object.hasOwn(value, property);
}

function stepsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}
