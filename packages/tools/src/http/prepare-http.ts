import type { Action } from "@svc/catalog";
import type { AppTransport, SecretVault } from "@svc/connections";
import type { Database } from "@svc/db/connect";
import { readHttpHosts } from "@svc/db/projects/quotas";
import { describeFaults } from "../call/check-arguments.ts";
import { withKeyHeader } from "../call/idempotency.ts";
import type { CallPlan, EndedCall, PreparedCall } from "../call/prepared-call.ts";
import { fillSecrets } from "../call/secret-uses.ts";
import { type ArgumentFault, type CallOutcome, resultOf } from "../outcome.ts";
import { buildHttpRequest } from "./build-request.ts";
import { withTexts } from "./read-text.ts";

/** What preparing the requests of programs works with. `hostTransport` goes to hosts of projects, in the sandbox as well. */
export type HttpContext = {
  readonly db: Database;
  readonly vault: SecretVault;
  readonly hostTransport: AppTransport;
};

/**
 * Everything before a request of a program's own is sent: is its host on the project's list now, are its secrets there, can it be
 * built. The list is asked last of all before it is sent, and the secrets are filled in with their present values.
 */
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
    // Nobody asks for one: requests are made by jobs alone.
    preview: () => ({ method: request.method, url: "", headers: {}, body: "" }),
    secrets: known,
    vaulted: filled.values,
    way: {
      authorize: async () => keyed,
      refused: async () => false,
      taken: async () => undefined,
      transport: withTexts(hostTransport),
      isSandbox: false,
    },
  };
}

/** Why a call ends that names a secret which is not there any more. */
export function secretMissing(name: string): string {
  return `the project has no secret ${name}; nothing was sent`;
}

function ended(outcome: CallOutcome, message: string, faults: readonly ArgumentFault[] = []): EndedCall {
  return { result: resultOf({ outcome, message, faults }), account: undefined };
}
