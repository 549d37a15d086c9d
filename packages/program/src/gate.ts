import type { Program } from "./program.ts";

/** Where a program asks for an approval in mid-run, such as `points/sure`; undefined where it never does. */
export function gateOf({ points }: Pick<Program, "points">): string | undefined {
  return [...points.values()].find(({ isApproval }) => isApproval)?.pointer.slice(1);
}
