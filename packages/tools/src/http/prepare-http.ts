import type { Action } from "@svc/catalog";
import type { AppAnswer, AppTransport, SecretVault } from "@svc/connections";
import { readForeignText } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { readHttpHosts } from "@svc/db/projects/http-hosts";
import { withKeyHeader } from "../call/gate/idempotency.ts";
import { describeFaults } from "../call/prepare/check-arguments.ts";
import type { CallPlan, EndedCall, PreparedCall } from "../call/prepare/prepared-call.ts";
import { fillSecrets } from "../call/prepare/secret-uses.ts";
import { type ArgumentFault, type CallOutcome, resultOf } from "../outcome.ts";
import { buildHttpRequest, isJsonType } from "./build-request.ts";

/**
 * Returns a transport to the project's own hosts. Their successful answers may have any form; an answer that is not JSON becomes `{"text":
 * …}`.
 */
function withTexts(transport: AppTransport): AppTransport {
  return { send: async (...sent) => asJson(await transport.send(...sent)) };
}

function asJson(answer: AppAnswer): AppAnswer {
  if (answer.kind !== "answer" || answer.status < 200 || answer.status > 299) return answer;
  const { headers, body, unreadable } = answer;
  const type = headers["content-type"];
  if (body.byteLength === 0 || unreadable !== undefined) return answer;
  const read = readForeignText(body, type);
  // The body is not readable text, so it is returned unchanged. The code that later reads the app's answer reports the reason.
  if ("fault" in read || (type === undefined ? isJson(read.text) : isJsonType(type))) return answer;
  const json = { "content-type": "application/json" };
  return { ...answer, headers: { ...headers, ...json }, body: Buffer.from(JSON.stringify({ text: read.text })) };
}

/** True if an answer without a content type can be parsed as JSON. False if it must be treated as plain text. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Dependencies of preparing HTTP requests that programs make themselves, without a tool. `hostTransport`: sends requests to the hosts that
 * a project allows, even if the job's tool calls go to the sandbox (test apps).
 */
export type HttpContext = {
  readonly db: Database;
  readonly vault: SecretVault;
  readonly hostTransport: AppTransport;
};

/** Returns the request of a program's http step, ready to be sent. Checks the project's list of hosts, and that the secrets exist. */
export async function prepareHttp(
  { db, vault, hostTransport }: HttpContext,
  action: Action,
  plan: CallPlan,
): Promise<PreparedCall | EndedCall> {
  const { args, appKey, secretUses: uses = [], secrets: known = [] } = plan;
  const { projectId } = plan.caller;
  const [filled, allowed] = await Promise.all([
    fillSecrets(vault, projectId, { args, uses }),
    readHttpHosts(db, projectId),
  ]);
  if ("missing" in filled) return ended("not_callable", secretMissing(filled.missing));
  const built = buildHttpRequest(filled.args);
  if ("fault" in built) {
    const { pointer, message } = built.fault;
    const faults = [{ pointer, message, givenJson: "" }];
    return ended("invalid_arguments", describeFaults(faults), faults);
  }
  const { request, host } = built;
  if (!allowed.has(host)) return ended("not_callable", `${host} is not on the project's list of hosts`);
  const keyed = withKeyHeader(action, request, appKey);
  return {
    action,
    toolkit: plan.toolkit,
    account: undefined,
    request: keyed,
    // The request is never shown to a person, because only jobs make such requests.
    preview: () => ({ method: request.method, url: "", headers: {}, body: "" }),
    secrets: known,
    vaulted: filled.values,
    way: {
      authorize: async () => keyed,
      refused: async () => false,
      taken: async () => undefined,
      lacked: async () => undefined,
      transport: withTexts(hostTransport),
      isSandbox: false,
    },
  };
}

/** Returns the message for a call that uses a secret which no longer exists. */
export function secretMissing(name: string): string {
  return `the project has no secret ${name}; nothing was sent`;
}

function ended(outcome: CallOutcome, message: string, faults: readonly ArgumentFault[] = []): EndedCall {
  return { result: resultOf({ outcome, message, faults }), account: undefined };
}
