import { type Clock, confirmLifeMs, digestSecret, isObject, type ProjectPrincipal } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { findConsoleLink, makeConsoleLink, spendConsoleLink } from "@svc/db/console/links";
import type { McpContext, McpOutcome, Params } from "../mcp/offer.ts";
import type { CallResult } from "../outcome.ts";

/** Database and clock, which are needed to ask a client's user for confirmation. */
export type ConfirmationStore = { readonly db: Database; readonly clock: Clock };

/** The question to the user of an agent's client: may this call be made? `text`: the question as the user sees it. */
type AskedUser = {
  /** Name that identifies the call with its arguments and its account. The user's answer is valid only for a call with this name. */
  readonly name: string;
  readonly text: string;
};

const key = "confirm";

/** Returns true if an MCP client declares that it can show a form to its user. Returns false otherwise. */
export function canAskUser({ client }: Pick<McpContext, "client">): boolean {
  const elicitation = client?.["elicitation"];
  if (!isObject(elicitation)) return false;
  // A client that gives no details can show forms.
  return Object.keys(elicitation).length === 0 || isObject(elicitation["form"]);
}

/**
 * Returns the MCP result that makes the client ask its user if a call may be made. It contains a text (`state`) that the client must send
 * back with the answer. The text is valid for ten minutes, for this call and this key, and can be used once.
 */
export async function askUser(
  { db, clock }: ConfirmationStore,
  { projectId, keyId }: ProjectPrincipal,
  { name, text }: AskedUser,
): Promise<McpOutcome> {
  const nowMs = clock.now();
  const made = { purpose: "confirm", projectId, keyId, nowMs, expiresAt: nowMs + confirmLifeMs } as const;
  const { token } = await makeConsoleLink(db, { ...made, target: { confirm: { name } } });
  const requestedSchema = {
    type: "object",
    properties: { [key]: { type: "boolean", title: "Carry it out", description: "Once, as it is shown." } },
    required: [key],
  };
  const request = { method: "elicitation/create", params: { mode: "form", message: text, requestedSchema } };
  return { type: "input_required", result: { inputRequests: { [key]: request }, requestState: token } };
}

/** A user's answer. `confirmed`: yes to the call with the given `name`. `declined`: no. `none`: no valid answer. */
type UserAnswer = { readonly kind: "none" | "declined" } | { readonly kind: "confirmed"; readonly name: string };

/** Returns the user's answer to the question if a call is confirmed. An answer can be used only once. */
export async function readUserAnswer(
  { db, clock }: ConfirmationStore,
  { projectId, keyId }: ProjectPrincipal,
  { inputResponses, requestState }: Params,
): Promise<UserAnswer> {
  const response = isObject(inputResponses) ? inputResponses[key] : undefined;
  if (!isObject(response) || typeof requestState !== "string") return { kind: "none" };
  const link = await findConsoleLink(db, digestSecret(requestState));
  const nowMs = clock.now();
  const isOwn = link?.purpose === "confirm" && link.projectId === projectId && link.keyId === keyId;
  if (link === undefined || !isOwn || link.expiresAt <= nowMs) return { kind: "none" };
  if (!(await spendConsoleLink(db, link, nowMs))) return { kind: "none" };
  const { action, content } = response;
  const isYes = action === "accept" && isObject(content) && content[key] === true;
  const name = link.target.confirm?.name;
  return isYes && name !== undefined ? { kind: "confirmed", name } : { kind: "declined" };
}

/**
 * A tool's answer: `texts` for a model, and the same content as data (`structured`) for a program. `images`: images for the model, in
 * addition to the texts. Absent if there are none.
 */
export type ToolAnswer = {
  readonly texts: readonly string[];
  readonly images?: CallResult["images"];
  readonly structured: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  /** The question that the client's user must answer before the call is made. Undefined if no question is needed. */
  readonly askUser?: AskedUser | undefined;
};

/** Returns an answer of svc as a tool result of the protocol MCP. */
export function toolResult({ texts, images = [], structured, isError }: ToolAnswer): Readonly<Record<string, unknown>> {
  const shown = images.map(({ mimeType, data }) => ({ type: "image", mimeType, data }));
  return {
    content: [...texts.map((text) => ({ type: "text", text })), ...shown],
    structuredContent: structured,
    isError,
  };
}

/**
 * Returns the answer of a tool call that succeeded; a failed call has another form of answer. `structured`: the content as data. `texts`:
 * the same content as texts for a model.
 */
export function answered<Data extends Readonly<Record<string, unknown>>>(
  structured: Data,
  ...texts: readonly string[]
): ToolAnswer & { readonly structured: Data } {
  return { texts, structured, isError: false };
}

/** Returns the first sentence of a description on one line, at most `lengthMax` characters. */
export function firstSentence(description: string, lengthMax: number): string {
  const line = description.replace(/\s+/g, " ").trim();
  const [sentence = line] = /^.*?[.!?](?= [A-Z]|$)/.exec(line) ?? [];
  return cutText(sentence, lengthMax);
}

/** Returns a text cut to at most `lengthMax` characters. Three dots mark the cut. */
export function cutText(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax - 3).toWellFormed()}...` : text;
}
