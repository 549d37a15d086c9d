import { call, text } from "@svc/core";
import { pathOf } from "../json.ts";
import type { Program } from "../program.ts";
import { callsOf } from "../steps/index.ts";
import type { Check, CheckContext } from "./context.ts";

/** Every host that a program's requests go to, each once. */
export function hostsOf({ steps }: Program): readonly string[] {
  return [...new Set(callsOf(steps).flatMap(({ http }) => http?.host ?? []))];
}

/** Allowed hosts that a hint names. */
const namedMax = 10;

/** Asks which hosts the project's requests may go to. Records every request to another. */
export async function askHosts(program: Program, { faults }: Check, context: CheckContext): Promise<void> {
  if (hostsOf(program).length === 0) return;
  const allowed = await context.httpHosts();
  for (const { http, pointer } of callsOf(program.steps)) {
    if (http === undefined || allowed.has(http.host)) continue;
    const named = [...allowed].slice(0, namedMax).join(", ");
    const hint = text`have an administrator add it with ${call("SetProjectPolicy", { http: { hosts: [http.host] } })}, or call ${named === "" ? "another way: no host is on the list" : `one that is on it: ${named}`}`;
    const message = `${http.host} is not on the project's list of hosts`;
    faults.add("PROGRAM_HOST_NOT_ALLOWED", [...pathOf(pointer), "http", "url"], message, hint);
  }
}
