import type { BenchSettings } from "./case.ts";
import { postKind } from "./post-kinds.ts";
import { type ServerOptions, startServer } from "./server.ts";
import type { Variant } from "./system.ts";

/** Returns the server as a variant with one subscription of the sink to the post's trigger, and with further environment variables. */
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

/** Returns the server as a variant that only accepts posts. */
export function storingServer(settings: BenchSettings, name: string): Variant {
  const options: ServerOptions = { subscriptions: [], counts: "events", nodeOptions: profilerOptions(settings) };
  return { name, start: (setup) => startServer(setup, options) };
}

/** Returns the Node options for a profiled process, or none. */
export function profilerOptions({ profileFolder }: BenchSettings): string[] {
  return profileFolder === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileFolder}`];
}
