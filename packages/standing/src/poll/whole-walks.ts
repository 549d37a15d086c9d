/** The last sight of an id, and a walk of the whole list, are noted once in so long. */
export const dayMs = 86_400_000;
/** How long an id that no whole walk meets is remembered. */
const rememberMs = 7 * dayMs;

/**
 * Whole walks so far with one more. Ids are forgotten that a walk of a week ago did not meet, nor any since; the last sight of an id is
 * written once a day, so it may be older by so much.
 */
export function afterWholeWalk(
  walks: readonly number[],
  startedAt: number,
  nowMs: number,
): { readonly walks: readonly number[]; readonly forgetBefore: number | undefined } {
  const last = walks.at(-1);
  if (last !== undefined && startedAt < last + dayMs) return { walks, forgetBefore: undefined };
  const missed = walks.filter((at) => at <= nowMs - rememberMs).at(-1);
  const kept = walks.filter((at) => missed === undefined || at >= missed);
  return { walks: [...kept, startedAt], forgetBefore: missed === undefined ? undefined : missed - dayMs };
}
