import type { AppTransport } from "@svc/connections";
import { ObjectStore, type StoreLimits } from "./data/store.ts";
import { createSandboxOauth, type OauthOptions, type SandboxOauth } from "./oauth/oauth.ts";
import { createSandboxTransport, type TransportOptions } from "./transport.ts";

/** What the sandbox is made of. */
export type SandboxOptions = Omit<OauthOptions, "findToolkit"> & {
  readonly findToolkit?: OauthOptions["findToolkit"];
  /** Bounds of what it keeps in memory; the usual ones unless given. */
  readonly limits?: Partial<StoreLimits>;
  readonly turns?: TransportOptions["turns"];
  readonly findWhole?: TransportOptions["findWhole"];
};

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Most rows of a project of which it is kept which list showed them, and the characters of those of all projects. */
const seenPerProjectMax = 1000;
const seenCharactersMax = 8 * 1024 * 1024;

/** An emulator of every catalogued app inside the process, driven by the definitions. It listens nowhere and dials nothing. */
export type Sandbox = { readonly transport: AppTransport; readonly oauth: SandboxOauth };

/**
 * Makes a sandbox. What calls make, change and delete is kept per project in memory, and is gone with the process; the state is not
 * shared between nodes, OAuth tokens are.
 */
export function createSandbox({
  findToolkit = () => undefined,
  limits,
  turns,
  findWhole,
  ...options
}: SandboxOptions): Sandbox {
  const { oauth, acceptsToken } = createSandboxOauth({ ...options, findToolkit });
  const store = new ObjectStore(limits);
  // What was there before lies before the day on which the sandbox began, and does not move with the days.
  const baseMs = Math.floor(options.clock.now() / dayMs) * dayMs - 15 * hourMs;
  // Rows that lists showed are let go of long before what calls made.
  const seen = new ObjectStore({
    ...limits,
    objectsPerProjectMax: seenPerProjectMax,
    charactersMax: seenCharactersMax,
  });
  return {
    transport: createSandboxTransport({ clock: options.clock, store, seen, baseMs, acceptsToken, turns, findWhole }),
    oauth,
  };
}
