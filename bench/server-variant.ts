import type { BenchSettings } from "./case.ts";
import { postKind } from "./post-kinds.ts";
import { type ServerOptions, startServer } from "./server.ts";
import type { Variant } from "./system.ts";

/** The server as a variant, with one subscription of the sink to the post's trigger, and with further variables of its environment. */
export function deliveringServer(
  settings: BenchSettings,
  name: string,
  environment: Readonly<Record<string, string>> = {},
): Variant {
  return {
    name,
    start: (setup) => {
      const { toolkitSlug, triggerSlug } = postKind(setup.post);
      const subscriptions = [{ endpointUrl: setup.endpointUrl, toolkitSlug, triggerSlug }];
      const nodeOptions = profilerOptions(settings);
      return startServer(setup, { subscriptions, counts: "delivered", nodeOptions, environment });
    },
  };
}

/** The server as a variant that only takes posts in. */
export function storingServer(settings: BenchSettings, name: string): Variant {
  const options: ServerOptions = { subscriptions: [], counts: "events", nodeOptions: profilerOptions(settings) };
  return { name, start: (setup) => startServer(setup, options) };
}

/** Node's options for a process that is profiled, or none. */
export function profilerOptions({ profileFolder }: BenchSettings): string[] {
  return profileFolder === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileFolder}`];
}
