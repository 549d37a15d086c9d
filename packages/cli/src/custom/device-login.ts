import { hostname } from "node:os";
import { parseExactJson, requireText, systemClock } from "@svc/core";
import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";

const grantType = "urn:ietf:params:oauth:grant-type:device_code";

/**
 * Signs in with a browser (RFC 8628): prints the code and the address for the person, and waits for the decision. Returns the key. Throws
 * CommandError if the person denies, if the code expires, or if the service cannot be used.
 */
export async function signInWithBrowser(url: string, context: CommandContext): Promise<string> {
  const started = await post(`${url}/oauth/device_authorization`, {
    client_name: `svc on ${hostname()}`.slice(0, 100),
  });
  const { device_code: code = "", user_code: shown, verification_uri_complete: address, interval = 5 } = started;
  if (code === "")
    throw new CommandError(`${url} does not let programs sign in: ${started.error_description ?? "no answer"}`);
  context.note(`Open ${address}`);
  context.note(`and compare the code: ${shown}`);
  const stopped = context.untilInterrupted();
  for (let waitMs = interval * 1_000; !stopped.aborted; ) {
    await systemClock.wait(waitMs, stopped);
    const answer = await post(`${url}/oauth/token`, { grant_type: grantType, device_code: code, client_id: "svc-cli" });
    if (answer.access_token !== undefined) return answer.access_token;
    if (answer.error === "slow_down") waitMs += interval * 1_000;
    else if (answer.error !== "authorization_pending")
      throw new CommandError(`not signed in: ${answer.error_description ?? "the service gave no answer"}`);
  }
  throw new CommandError("interrupted before a person decided");
}

/** The fields of the service's answers that the sign-in reads. */
type Answer = {
  readonly device_code?: string;
  readonly user_code?: string;
  readonly verification_uri_complete?: string;
  readonly interval?: number;
  readonly access_token?: string;
  readonly error?: string;
  readonly error_description?: string;
};

async function post(url: string, fields: Record<string, string>): Promise<Answer> {
  try {
    const answer = await fetch(url, { method: "POST", body: new URLSearchParams(fields) });
    return parseExactJson(requireText(Buffer.from(await answer.arrayBuffer()))) as Answer;
  } catch (error) {
    throw new CommandError(`${url} gave no usable answer: ${error instanceof Error ? error.message : String(error)}`);
  }
}
