import type { UnsignedPost } from "@svc/catalog";
import { parseExactJson } from "@svc/core";
import { CommandError, wrongListenerHint } from "../../command/error.ts";
import { faultCode, unreachableHint } from "../../command/unreachable.ts";
import type { ReceivingToolkit } from "./receiving-toolkit.ts";

/** The server's answer to a webhook post that the command has sent. */
export type ServerAnswer = { status: number; body: string };

/**
 * Sends a webhook post to the server in the way that the provider (the app) would. Returns the server's answer, also if the server refuses
 * the post. Rejects with CommandError if the server cannot be reached.
 */
export async function sendPost(url: string, { headers, query, body }: UnsignedPost): Promise<ServerAnswer> {
  const search = new URLSearchParams(query).toString();
  try {
    const options = { method: "POST", headers, ...(body.length === 0 ? {} : { body }) };
    const answer = await fetch(search === "" ? url : `${url}?${search}`, options);
    return { status: answer.status, body: await answer.text() };
  } catch (err) {
    const cause = err instanceof Error && err.cause instanceof Error ? err.cause : err;
    throw new CommandError(`cannot reach ${url}: ${faultCode(err) || String(cause)}. ${unreachableHint(err, url)}`);
  }
}

/** Returns how many events an accepted webhook post became: 1 or 0. Returns undefined if the server's answer does not contain this. */
export function storedCount({ body }: ServerAnswer): number | undefined {
  const accepted = (parseJsonBody(body) as { accepted?: unknown } | undefined)?.accepted;
  return typeof accepted === "number" ? accepted : undefined;
}

/** Returns one line for the terminal that says what became of an accepted webhook post. */
export function acceptedText(answer: ServerAnswer, triggerSlug: string): string {
  const { status, body } = answer;
  const accepted = storedCount(answer);
  if (accepted === undefined) return `${status} ${body.slice(0, 200)}`;
  return accepted === 0 ? `${status} no event stored` : `${status} stored (${triggerSlug})`;
}

/** Returns the description of an accepted webhook post as JSON. `trigger` is empty if the post matches no trigger. */
export function acceptedJson(answer: ServerAnswer, triggerSlug: string): string {
  return JSON.stringify({ status: answer.status, accepted: storedCount(answer) ?? null, trigger: triggerSlug });
}

/** The parts of a refusal that the command reads. All are unknown, because a server other than svc may have answered. */
type RefusalBody = { readonly message?: unknown; readonly details?: readonly { debug?: { reason?: unknown } }[] };

/** Returns one line that describes a refused webhook post and what the user can do. */
export function refusalText({ slug, webhook }: ReceivingToolkit, { status, body }: ServerAnswer): string {
  const { message, details } = (parseJsonBody(body) as RefusalBody | undefined) ?? {};
  const text = `the service refused with ${status}: ${typeof message === "string" ? message : body.slice(0, 200)}`;
  // A private toolkit has no variable: its secrets are in the vault.
  const isPrivate = webhook.secretEnv === "";
  if (isPrivate && status === 403) return `${text}. \`svc webhooks secrets put ${slug}\` stores one.`;
  if (isPrivate && status === 401)
    return `${text}. Is the secret one of the toolkit's? \`svc webhooks secrets put ${slug}\` stores another.`;
  if (isPrivate && status === 404) return `${text}. \`svc toolkits publish\` publishes the toolkit.`;
  if (status === 403) {
    return `${text}. Set ${webhook.secretEnv} for the service to the same text as here, in its environment (and restart it) or in its SVC_ENV_FILE (and send it SIGHUP).`;
  }
  if (status === 401) return `${text}. Is ${webhook.secretEnv} the same here and for the service?`;
  if (details?.[0]?.debug?.reason === "CALL_UNKNOWN") return `${text}. ${wrongListenerHint}`;
  return status === 404 ? `${text}. Does the service have the same definition of ${slug}?` : text;
}

/** Returns a body parsed as JSON. Numbers keep all their digits. Returns undefined if the body is empty or is not JSON. */
function parseJsonBody(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined; // the answer may be an HTML page of a proxy
  }
}
