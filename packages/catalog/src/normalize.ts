import { parseTemplate, parseTemplateTree, renderTemplate, renderTemplateTree, TemplateValueError } from "@svc/core";
import type { TriggerDocument } from "./documents.ts";
import { createValidator } from "./json-schema.ts";
import type { NormalizedPost, NormalizeFault, Post } from "./model.ts";

/** Account and dedupe keys stand in database indexes, whose entries are bounded. */
const keyLengthMax = 512;

/** Compiles what a trigger makes of a post. The answer never throws on a post, and its schema is compiled at the first one. */
export function compileNormalize(document: TriggerDocument): (post: Post) => NormalizedPost | NormalizeFault {
  const payloadTree = parseTemplateTree(document.payload);
  const account = parseTemplate(document.account ?? "");
  const dedupe = parseTemplate(document.dedupe ?? "");
  const occurredAt = parseTemplate(document.occurredAt ?? "");
  const validate = createValidator(document.output);
  return (post) => {
    try {
      const payload = (renderTemplateTree(payloadTree, post) ?? {}) as Record<string, unknown>;
      const [fault] = validate(payload);
      if (fault !== undefined) return { fault: `payload${fault.pointer.replaceAll("/", ".")} ${fault.message}` };
      return {
        payload,
        account: toKey("account", renderTemplate(account, post)),
        dedupe: toKey("dedupe", renderTemplate(dedupe, post)),
        occurredAt: toTime(renderTemplate(occurredAt, post)),
      };
    } catch (error) {
      if (error instanceof TemplateValueError || error instanceof PostFault) return { fault: error.message };
      throw error;
    }
  };
}

class PostFault extends Error {}

function toKey(field: string, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "object") throw new PostFault(`${field} must be a text or a number, and is an object or a list`);
  const text = String(value);
  if (text.length > keyLengthMax) {
    throw new PostFault(`${field} must have at most ${keyLengthMax} characters, and has ${text.length}`);
  }
  // PostgreSQL's text cannot hold it.
  if (text.includes("\0")) throw new PostFault(`${field} must not contain the character NUL`);
  return text;
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)$/;
/** The years 1 to 9999, which RFC 3339 can write. */
const earliestMs = -62_135_596_800_000;
const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Unix times above this are milliseconds: as seconds it is the year 5138, as milliseconds 1973. */
const secondsMax = 1e11;

function toTime(value: unknown): number | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  const isUnixTime = typeof value === "number" || (typeof value === "string" && /^\d+(\.\d+)?$/.test(value));
  const unixTime = isUnixTime ? Number(value) : Number.NaN;
  const ms = isUnixTime ? unixTime * (unixTime < secondsMax ? 1000 : 1) : parseRfc3339(value);
  if (!(ms >= earliestMs && ms <= latestMs)) {
    throw new PostFault(`occurredAt must be RFC 3339 or a Unix time, and is ${JSON.stringify(value)?.slice(0, 60)}`);
  }
  return Math.trunc(ms);
}

function parseRfc3339(value: unknown): number {
  return typeof value === "string" && rfc3339.test(value) ? Date.parse(value.replace(" ", "T")) : Number.NaN;
}
