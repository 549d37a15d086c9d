import { seatFor, useSession } from "../session/session.ts";

/** Why the seat of a project may not do what takes an approver; undefined where it may. */
export function useApproverWhy(projectId: string): string | undefined {
  const seat = seatFor(useSession(), projectId);
  if (seat === undefined || seat.role === "approver") return undefined;
  return `It takes a key with the role approver; this seat is ${seat.role}.`;
}
