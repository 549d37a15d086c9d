import type { JsonObject } from "@svc/program";
import type { JobState } from "./job.ts";

/** What answers changed of a job, as it is sealed in `jobs.overrides`. */
export type StoredOverrides = {
  /** Values of params by name. */
  readonly params: JsonObject;
  /** Arguments by step id. */
  readonly stepArgs: JobState["stepArgs"];
};

/** What answers changed of a job: the params that are not the program's own any more, and arguments of steps. */
export function overridesOf({
  params,
  stepArgs,
  loaded,
}: Pick<JobState, "params" | "stepArgs" | "loaded">): StoredOverrides {
  const { params: own } = loaded.program;
  const changed = Object.entries(params).filter(([name, value]) => !Object.hasOwn(own, name) || own[name] !== value);
  return { params: Object.fromEntries(changed), stepArgs };
}
