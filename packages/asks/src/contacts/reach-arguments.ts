import { isRawJson } from "@svc/core";
import type { ContactChannelDocument } from "@svc/db/documents/asks";

/**
 * The values of a question that a message to its contact (the person who is asked) may contain. `link` is the address of the answer page.
 */
export type ReachValues = {
  readonly question: string;
  readonly jobId: string;
  readonly requestId: string;
  readonly link: string;
};

/** Arguments of the tool call that sends a question to a contact. Their texts may contain placeholders such as `{question}`. */
export type ReachArguments = ContactChannelDocument["args"];

const placeholder = /\{\{|\{([^{}]*)\}/g;
const names = ["question", "jobId", "requestId", "link"] as const satisfies readonly (keyof ReachValues)[];

/**
 * Returns the arguments of the tool call that sends a message to a contact. `{question}`, `{jobId}`, `{requestId}` and `{link}` are
 * replaced by their values. `{{` becomes a single brace. Other placeholders stay unchanged.
 */
export function fillReachArguments(args: ReachArguments, values: ReachValues): Record<string, unknown> {
  return fill(args, values) as Record<string, unknown>;
}

function fill(value: unknown, values: ReachValues): unknown {
  if (typeof value === "string") return fillText(value, values);
  if (Array.isArray(value)) return value.map((item) => fill(item, values));
  if (typeof value !== "object" || value === null || isRawJson(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, values)]));
}

function fillText(text: string, values: ReachValues): string {
  return text.replace(placeholder, (found: string, name: string | undefined) => {
    if (name === undefined) return "{";
    const known = names.find((one) => one === name);
    return known === undefined ? found : values[known];
  });
}

/**
 * Returns the name of the first placeholder in a contact's message arguments that svc does not know. Returns undefined if svc knows all
 * placeholders. Looks into lists and objects at any depth.
 */
export function unknownPlaceholder(value: unknown): string | undefined {
  if (typeof value === "string") {
    const found = [...value.matchAll(placeholder)].map(([, name]) => name);
    return found.find((name) => name !== undefined && !names.some((known) => known === name));
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const item of Object.values(value)) {
    const unknown = unknownPlaceholder(item);
    if (unknown !== undefined) return unknown;
  }
  return undefined;
}
