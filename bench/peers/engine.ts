import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Pool } from "undici";
import type { SystemSetup } from "../system.ts";

/** Work for a durable engine: a number of steps, each with one GET request to the app at `origin`. */
export type EngineWork = { readonly origin: string; readonly steps: number };

/** The kind of an engine's work: its steps run one after the other, or 32 at a time. */
export type EngineWorkName = "chain" | "together";

/** A started engine. It answers `POST /bench/<work>` once the whole workflow is done. */
export type StartedEngine = {
  readonly port: number;
  /** Processes of the engine other than the one that started it. */
  readonly otherPids: readonly number[];
  /** The engine's own store, if it does not use PostgreSQL. */
  readonly storePid?: number | undefined;
};

/** The commands of every engine. */
export type EngineCommands = {
  readonly start: (setup: SystemSetup) => Promise<StartedEngine>;
  /** Number of workflows that have ended. */
  readonly recorded: (argument: null) => Promise<number> | number;
};

/** Steps under way at the same time, in a work whose steps run together. */
export const stepsAtOnce = 32;

const requireEngine = createRequire(new URL("../engines/package.json", import.meta.url));

/** Returns the path of a file in an engine's package. Throws if the engines are not installed. */
export function resolveEngine(name: string): string {
  return requireEngine.resolve(name);
}

/**
 * Imports an engine's package. `M` declares the part that is used here, because the package is installed separately and its types are not
 * available.
 */
export async function importEngine<M>(name: string): Promise<M> {
  return (await import(pathToFileURL(resolveEngine(name)).href)) as M;
}

const requestsMax = 64;
const headers = { authorization: "Bearer bench", "content-type": "application/json" };
let pool: Pool | undefined;

/** Runs a step, with the same request as the server's tool. Throws unless the app answers 200. */
export async function readItem({ origin }: EngineWork, index: number): Promise<string> {
  pool ??= new Pool(origin, { connections: requestsMax, pipelining: 1 });
  const { statusCode, body } = await pool.request({ method: "GET", path: `/items/i${index}`, headers });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`the app answered ${statusCode}`);
  return text;
}

/** Returns a function that runs at most `stepsAtOnce` functions at the same time, in the order of the calls. */
export function createGate(): <T>(run: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = stepsAtOnce;
  return async (run) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free -= 1;
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
