import type { ConnectedAccount } from "@svc/sdk";
import { timeText } from "../text/table.ts";

/** The last known answer of the app to an account's credential, such as "worked at 2026-03-14T09:26:53Z"; `-` if it has none. */
export function credentialText({ scheme, sandbox, credentialTry }: ConnectedAccount): string {
  if (scheme === "none") return "-";
  if (sandbox) return "not tried: sandbox";
  return credentialTry === undefined ? "not tried yet" : `${credentialTry.outcome} at ${timeText(credentialTry.at)}`;
}
