import { createSlices, LeastRecentlyUsed, type Turns } from "@svc/core";
import type { BodyRenderer } from "@svc/delivery";
import { type CompiledBody, filterPayloadBytes, readBody } from "@svc/program";
import { filteredEvent } from "./filters.ts";

/** Maximum number of compiled body templates of subscriptions that a node keeps in memory. */
const compiledMax = 1_000;

/** Creates the function that makes the bodies of deliveries from the body template of a subscription. */
export function createBodyRenderer({ turns }: { readonly turns: Pick<Turns, "next"> }): BodyRenderer {
  const known = new LeastRecentlyUsed<string, CompiledBody>(compiledMax);
  const compile = (bodyJson: string): CompiledBody | string => {
    const found = known.get(bodyJson);
    if (found !== undefined) return found;
    const read = readBody(bodyJson, []);
    if ("fault" in read) return `${read.fault.pointer} ${read.fault.message}`.trim();
    known.set(bodyJson, read.body);
    return read.body;
  };
  return async (projectId, bodyJson, event) => {
    const compiled = compile(bodyJson);
    if (typeof compiled === "string") return { fault: compiled };
    const { turn, rest } = createSlices(() => turns.next(`project:${projectId}`));
    const filtered = await filteredEvent(event, turn);
    const given = event.kind === "test" ? { ...filtered, type: "test" } : filtered;
    return compiled.render(given, event.payload.length > filterPayloadBytes, rest);
  };
}
