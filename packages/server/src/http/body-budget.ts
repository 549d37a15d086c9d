/** Bytes of bodies that a node reads or holds at once. */
export type BodyBudget = {
  /** Sets bytes aside; false, and nothing set aside, when they would not fit. */
  take(bytes: number): boolean;
  /** Gives back what was taken. */
  give(bytes: number): void;
};

/** Makes a budget of `bytesMax`. */
export function createBodyBudget(bytesMax: number): BodyBudget {
  let taken = 0;
  return {
    take(bytes) {
      if (taken + bytes > bytesMax) return false;
      taken += bytes;
      return true;
    },
    give(bytes) {
      taken -= bytes;
    },
  };
}

const budgetBytesMin = 256 * 1024 * 1024;
const largestBodies = 64;

/**
 * What a node sets aside for posts under way, bytes: 256 MiB, or 64 bodies of the largest size where that is more. The first
 * is far over a node's traffic and under its memory; the second keeps a raised SVC_MAX_BODY_BYTES usable.
 */
export function postBudgetBytes(bodyBytesMax: number): number {
  return Math.max(budgetBytesMin, largestBodies * bodyBytesMax);
}
