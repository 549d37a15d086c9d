import type { CheckedPart } from "@svc/core/app-check";
import type { Word } from "./word.ts";

/**
 * The kinds of sources of a toolkit (the values of `Toolkit.sourceKind`). The API leaves the field empty for a toolkit that comes with svc;
 * the console then uses `svc`.
 */
export const sourceKinds = ["openapi", "mcp", "shared", "file", "svc"] as const;

/** Kind of source from which a toolkit (an app with its tools) was made, such as an OpenAPI document. */
export type SourceKind = (typeof sourceKinds)[number];

const kinds: Record<SourceKind, string> = {
  openapi: "OpenAPI document",
  mcp: "MCP server",
  shared: "Bound to an app",
  file: "Own definition",
  svc: "Comes with svc",
};

/** Returns the readable name of a toolkit's kind of source. A kind that this console does not know is returned unchanged. */
export function sourceWords(kind: string): string {
  return (kinds as Record<string, string>)[kind === "" ? "svc" : kind] ?? kind;
}

const reasons: Readonly<Record<string, string>> = {
  deprecated: "Deprecated by the document",
  upload: "Takes a file",
  download: "Returns a file",
  stream: "Answers as a stream",
  body_type: "Has a body of another type than JSON, form or text",
  parameter_encoding: "Has a parameter in an encoding that svc does not write",
  too_large: "Too large, also with shortened schemas",
  external_ref: "Refers to another document",
  other_server: "Is sent to another server",
  other_auth: "Accepts only authentication that the app's tools do not use",
  method: "Has a method that tools cannot have",
  flagged: "Its description gives orders to the reader",
  needs_tasks: "Runs only in the background",
  refused: "Breaks a rule of definitions",
};

/**
 * Returns in words why an import made no tool from an operation of the source. A reason that this console does not know is returned
 * unchanged.
 */
export function leftOutWords(reason: string): string {
  return reasons[reason] ?? reason;
}

const notes: Readonly<Record<string, string>> = {
  paging: "How pages of its list are requested, guessed from names",
  idempotency: "Takes an idempotency key",
  cut: "Parts left out of its schemas",
  auth: "Authentication",
  refused: "Breaks a rule of definitions",
  flagged: "Texts left out because they give orders to AI models",
  says: "What the server says of its tool",
  override: "A choice that does not apply or contradicts the tool's text",
};

/** Returns in words the kind of a remark about an import. A kind that this console does not know is returned unchanged. */
export function noteWords(kind: string): string {
  return notes[kind] ?? kind;
}

/** Returns a number with its noun: `1 tool`, `3 tools`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}

/** Returns the word, colour and icon for changes of a toolkit's source that wait for an approver. */
export function changesWord(count: number): Word {
  return {
    word: `${count.toLocaleString("en-US")} waiting`,
    tone: "warn",
    icon: "alert",
    says: "Its source has changed. The changes take effect when an approver accepts them.",
  };
}

/**
 * The word, colour and icon for each kind of change that a source made to a tool, such as `added`, and for each warning, such as
 * `suspicious`.
 */
export const changeWords = {
  added: { word: "added", tone: "ok", icon: "plus", says: "The source has it in addition." },
  gone: { word: "gone", tone: "bad", icon: "ban", says: "The source no longer has it." },
  altered: { word: "altered", tone: "info", icon: "replay", says: "The source changed a part of it." },
  breaking: {
    word: "may break calls",
    tone: "warn",
    icon: "alert",
    says: "Calls that worked before may fail, or may need confirmation.",
  },
  flagged: {
    word: "suspicious",
    tone: "bad",
    icon: "alert",
    says: "Its text gives orders to the AI model that reads it.",
  },
} as const satisfies Record<string, Word>;

const originFields: Readonly<Record<string, string>> = {
  baseUrl: "Address of calls",
  account: "Values that a person enters to connect",
  auth: "How accounts sign in",
  always: "Sent with each call",
  mcp: "Address of the MCP server",
};

/**
 * Returns the readable name of a toolkit's field that decides where calls and credentials are sent, such as the base URL. An unknown field
 * is returned unchanged.
 */
export function originWords(field: string): string {
  return originFields[field] ?? field;
}

/** Returns the word, colour and icon that say who answers the calls of a toolkit's tools: the real app, or the sandbox. */
export function realmWord(isLive: boolean): Word {
  return isLive
    ? {
        word: "live",
        label: "Real app",
        tone: "warn",
        icon: "alert",
        says: "Calls reach the real app and have real effects.",
      }
    : {
        word: "played",
        label: "Sandbox",
        tone: "info",
        icon: "event",
        says: "The sandbox makes up the answers. Nothing is sent.",
      };
}

/** Returns the word, colour and icon for one result of a check of a real app: good or wrong. */
export function findingWord(isGood: boolean): Word {
  return isGood
    ? { word: "ok", label: "OK", tone: "ok", icon: "check", says: "This part is as the definition of the app says." }
    : {
        word: "wrong",
        label: "Wrong",
        tone: "bad",
        icon: "cross",
        says: "Calls of the app will fail until you correct this.",
      };
}

/** For each part of a real app that the check tests: its name, and the advice if the part is wrong. */
export const partWords: Record<CheckedPart, { readonly title: string; readonly cure: string }> = {
  address: { title: "Address", cure: "Correct the address of the app's API." },
  TLS: { title: "TLS", cure: "The app needs a certificate that svc trusts." },
  credential: { title: "Credential", cure: "Connect an account with a credential that the app accepts." },
  answer: { title: "Answer", cure: "Correct the answers about the app. It may have another version." },
  fields: { title: "Fields", cure: "The app may have another version, or it is another app." },
  paging: { title: "Paging", cure: "Programs read only the first page of the list." },
};
