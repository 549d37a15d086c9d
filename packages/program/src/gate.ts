import type { Program } from "./program.ts";

/**
 * Returns the place where a program asks for an approval during the run, for example `points/sure`. Returns undefined if it asks for none.
 */
export function gateOf({ points }: Pick<Program, "points">): string | undefined {
  return [...points.values()].find(({ isApproval }) => isApproval)?.pointer.slice(1);
}
