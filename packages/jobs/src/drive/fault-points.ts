/** Where a test may end a node: between these two acts something is half done. */
export const faultPoints = [
  "after-claim",
  "before-call",
  "after-call",
  "before-commit",
  "after-commit",
  "after-ask-commit",
  "mid-undo",
] as const;

/** One of the places where a test may end a node. */
export type FaultPoint = (typeof faultPoints)[number];

/** Comes to a fault point. In production nothing happens; a test's may never resolve, or end the process. */
export type OnFaultPoint = (point: FaultPoint, at: { readonly stepId: string }) => Promise<void> | void;
