import { parseExactJson } from "@svc/core";
import { CommandError, wrongListenerHint } from "../../command/error.ts";
import { faultCode, unreachableHint } from "../../command/unreachable.ts";
import type { ProviderPost, ReceivingToolkit } from "./receiving-toolkit.ts";

/** What the server answered to a post. */
export type ServerAnswer = { status: number; body: string };

/** Posts as a provider does. Rejects with CommandError when the server cannot be reached; its refusals are answers. */
export async function sendPost(url: string, { headers, query, body }: ProviderPost): Promise<ServerAnswer> {
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

/** Whether a taken post became an event: 1 or 0; undefined when the answer does not say. */
export function storedCount({ body }: ServerAnswer): number | undefined {
  const accepted = (parseJsonBody(body) as { accepted?: unknown } | undefined)?.accepted;
  return typeof accepted === "number" ? accepted : undefined;
}

/** One line for a post that was taken. */
export function acceptedText(answer: ServerAnswer, triggerSlug: string): string {
  const { status, body } = answer;
  const accepted = storedCount(answer);
  if (accepted === undefined) return `${status} ${body.slice(0, 200)}`;
  return accepted === 0 ? `${status} no event stored` : `${status} stored (${triggerSlug})`;
}

/** The same as JSON; `trigger` is empty when the post fits none. */
export function acceptedJson(answer: ServerAnswer, triggerSlug: string): string {
  return JSON.stringify({ status: answer.status, accepted: storedCount(answer) ?? null, trigger: triggerSlug });
}

/** What is read of a refusal; another server than svc may have answered. */
type RefusalBody = { readonly message?: unknown; readonly details?: readonly { debug?: { reason?: unknown } }[] };

/** One line for a post that was refused, with what to do about it. */
export function refusalText({ slug, webhook }: ReceivingToolkit, { status, body }: ServerAnswer): string {
  const { message, details } = (parseJsonBody(body) as RefusalBody | undefined) ?? {};
  const text = `the service refused with ${status}: ${typeof message === "string" ? message : body.slice(0, 200)}`;
  if (status === 403) {
    return `${text}. Set ${webhook.secretEnv} for the service, to the text that is used here, in its environment (and start it again) or in its SVC_ENV_FILE (and send it SIGHUP).`;
  }
  if (status === 401) return `${text}. Is ${webhook.secretEnv} the same here and for the service?`;
  if (details?.[0]?.debug?.reason === "CALL_UNKNOWN") return `${text}. ${wrongListenerHint}`;
  return status === 404 ? `${text}. Are its definitions those of ${slug} here?` : text;
}

/** A body parsed as JSON, with all digits of its numbers; undefined when it is empty or not JSON. */
export function parseJsonBody(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined; // a trigger may match by headers alone, and a proxy may answer in HTML
  }
}
