import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Pool } from "undici";
import type { SystemSetup } from "../system.ts";

/** What a durable engine is asked to do: so many steps, each with one GET of the app at `origin`. */
export type EngineWork = { readonly origin: string; readonly steps: number };

/** Works of an engine: its steps one after the other, or 32 at once. */
export type EngineWorkName = "chain" | "together";

/** Where an engine answers `POST /bench/<work>` once the whole workflow is done. */
export type StartedEngine = {
  readonly port: number;
  /** Processes of it beside the one that started it. */
  readonly otherPids: readonly number[];
  /** Its own store, where it keeps nothing in PostgreSQL. */
  readonly storePid?: number | undefined;
};

/** The commands of every engine. */
export type EngineCommands = {
  readonly start: (setup: SystemSetup) => Promise<StartedEngine>;
  /** Workflows that have ended so far. */
  readonly recorded: (argument: null) => Promise<number> | number;
};

/** Steps that are under way at once in a work whose steps run together. */
export const stepsAtOnce = 32;

const requireEngine = createRequire(new URL("../engines/package.json", import.meta.url));

/** Where a file of an engine's package is. Throws where the engines are not installed. */
export function resolveEngine(name: string): string {
  return requireEngine.resolve(name);
}

/** Imports a package of an engine. `M` is what of it is used here: it is installed apart, so no type of it is at hand. */
export async function importEngine<M>(name: string): Promise<M> {
  return (await import(pathToFileURL(resolveEngine(name)).href)) as M;
}

const requestsMax = 64;
const headers = { authorization: "Bearer bench", "content-type": "application/json" };
let pool: Pool | undefined;

/** A step: the request that the server's tool makes. Throws unless the app answers 200. */
export async function readItem({ origin }: EngineWork, index: number): Promise<string> {
  pool ??= new Pool(origin, { connections: requestsMax, pipelining: 1 });
  const { statusCode, body } = await pool.request({ method: "GET", path: `/items/i${index}`, headers });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`the app answered ${statusCode}`);
  return text;
}

/** Runs at most `stepsAtOnce` of the given functions at once, in the order of the calls. */
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
