import { type Clock, confirmLifeMs, digestSecret, isObject, type ProjectPrincipal } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { findConsoleLink, makeConsoleLink, spendConsoleLink } from "@svc/db/console/links";
import type { McpContext, McpOutcome, Params } from "../mcp/offer.ts";

/** What confirmations by a client's user are kept with. */
export type ConfirmationStore = { readonly db: Database; readonly clock: Clock };

/** What an agent's client is asked about a call that its user is to confirm. */
export type AskedUser = {
  /** Of the call, its arguments and account: what an answer is good for, and nothing else. */
  readonly name: string;
  readonly text: string;
};

const key = "confirm";

/** Whether a client can put a form to its user: it says so of forms, or of nothing in particular. */
export function canAskUser({ client }: Pick<McpContext, "client">): boolean {
  const elicitation = client?.["elicitation"];
  if (!isObject(elicitation)) return false;
  return Object.keys(elicitation).length === 0 || isObject(elicitation["form"]);
}

/** Has the client ask its user. The state that travels is good for one call of the same key, once, for ten minutes. */
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

/** What a user said. `confirmed`: yes to the call of that name. `declined`: no. `none`: nothing that counts. */
export type UserAnswer = { readonly kind: "none" | "declined" } | { readonly kind: "confirmed"; readonly name: string };

/** Reads what a client's user said, and spends it: of any number of requests that bring it, it counts for one. */
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
