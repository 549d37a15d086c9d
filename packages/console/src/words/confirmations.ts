import { prettyJson } from "./pretty-json.ts";

/** A question whether a call may be sent: what it asks, who made the call, and the call's arguments as JSON over several lines. */
export type Confirmation = { asks: string; asker: string; args: string };

const form = /^(Carry out .*?\?) (?:(Asked for by .*?\.) )?Arguments: (.*)$/s;

/** Reads the question that is put where a person confirms a call. Undefined for any other question: it is shown as it stands. */
export function readConfirmation(question: string): Confirmation | undefined {
  const [, asks, asker = "", args] = form.exec(question) ?? [];
  return asks === undefined || args === undefined ? undefined : { asks, asker, args: prettyJson(args) };
}
