import type { Toolkit } from "./model.ts";

/**
 * For which toolkits (apps) the sandbox answers instead of the real app (SVC_SANDBOX):
 * - `off`: for none.
 * - `on`: for each toolkit that is not live. A toolkit is live if the deployment or a project has named the app that it calls.
 * - `force`: for all toolkits.
 */
export type SandboxMode = "off" | "on" | "force";

/** True if the sandbox answers the calls of this toolkit (app). False if the calls are sent to the real app. */
export function isPlayed({ isLive }: Pick<Toolkit, "isLive">, mode: SandboxMode): boolean {
  return mode === "force" || (mode === "on" && isLive !== true);
}

/**
 * The toolkits (apps) that a program uses. `played`: those for which the sandbox answers. `live`: those whose real app answers. Both lists
 * contain slugs and are sorted.
 */
export type ToolkitSides = { readonly played: readonly string[]; readonly live: readonly string[] };

/** Returns which toolkits (apps) of a program the sandbox plays and which are real apps. A slug that occurs several times is listed once. */
export function sidesOf(toolkits: Iterable<Pick<Toolkit, "slug" | "isLive">>, mode: SandboxMode): ToolkitSides {
  const all = [...toolkits];
  const slugsOf = (played: boolean) => {
    const slugs = all.flatMap((toolkit) => (isPlayed(toolkit, mode) === played ? [toolkit.slug] : []));
    return [...new Set(slugs)].toSorted();
  };
  return { played: slugsOf(true), live: slugsOf(false) };
}

/**
 * Returns the values of an account's field `isSandbox` with which svc uses the account in this mode. The value is true for accounts that
 * the sandbox made up, and false for accounts of real apps.
 */
export function accountSidesOf(mode: SandboxMode): readonly boolean[] {
  if (mode === "on") return [true, false];
  return [mode === "force"];
}
