import { useQuery } from "@connectrpc/connect-query";
import { IdentityService } from "@svc/gen/identity";
import { seatFor, useSession } from "../session/session.ts";

/**
 * The deployment as the service describes it to the signed-in user; undefined until the service answers. Until then `isSandbox` is false.
 */
export function useDeployment(): { isSandbox: boolean; isKnown: boolean; publicUrl: string } {
  const { data } = useQuery(IdentityService.method.getIdentity, {}, { staleTime: Number.POSITIVE_INFINITY });
  const deployment = data?.deployment;
  return {
    isSandbox: deployment?.sandbox ?? false,
    isKnown: deployment !== undefined,
    publicUrl: deployment?.publicUrl ?? "",
  };
}

/** Returns why the project's seat may not do what needs an approver; undefined if it may. */
export function useApproverWhy(projectId: string): string | undefined {
  const seat = seatFor(useSession(), projectId);
  if (seat === undefined || seat.role === "approver") return undefined;
  return `It takes a key with the role approver; this seat is ${seat.role}.`;
}
