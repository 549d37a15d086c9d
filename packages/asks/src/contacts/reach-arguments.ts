import { isRawJson } from "@svc/core";
import type { ReachDocument } from "@svc/db/documents/asks";

/** What of an ask a contact may be told. `link`: where it is answered. */
export type ReachValues = {
  readonly question: string;
  readonly jobId: string;
  readonly requestId: string;
  readonly link: string;
};

/** Arguments of a tool, in whose texts placeholders stand. */
export type ReachArguments = ReachDocument["args"];

const placeholder = /\{\{|\{([^{}]*)\}/g;
const names = ["question", "jobId", "requestId", "link"] as const satisfies readonly (keyof ReachValues)[];

/** The arguments with `{question}`, `{jobId}`, `{requestId}` and `{link}` filled in; `{{` is a brace. Other placeholders stay as they are. */
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

/** The first placeholder in a template that stands for nothing; undefined when there is none. */
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
