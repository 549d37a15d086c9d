import { useQuery } from "@connectrpc/connect-query";
import { IdentityService } from "@svc/gen/identity";
import { seatFor, useSession } from "../session/session.ts";

/** What the service is to whoever looks; undefined until it has said. `isSandbox` is false until then: real unless told otherwise. */
export function useDeployment(): { isSandbox: boolean; isKnown: boolean; publicUrl: string } {
  const { data } = useQuery(IdentityService.method.getIdentity, {}, { staleTime: Number.POSITIVE_INFINITY });
  const deployment = data?.deployment;
  return {
    isSandbox: deployment?.sandbox ?? false,
    isKnown: deployment !== undefined,
    publicUrl: deployment?.publicUrl ?? "",
  };
}

/** Why the seat of a project may not do what takes an approver; undefined where it may. */
export function useApproverWhy(projectId: string): string | undefined {
  const seat = seatFor(useSession(), projectId);
  if (seat === undefined || seat.role === "approver") return undefined;
  return `It takes a key with the role approver; this seat is ${seat.role}.`;
}
