import { useQuery } from "@connectrpc/connect-query";
import { IdentityService } from "@svc/gen/identity";
import { seatFor, useSession } from "../session/session.ts";

/**
 * Returns facts about the deployment, as the service reports them to the signed-in user. While the service has not answered yet, `isKnown`
 * and `isSandbox` are false.
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

/**
 * Returns the reason why the user's key in this project may not do actions that need an approver. Returns undefined if the key may do them.
 */
export function useApproverWhy(projectId: string): string | undefined {
  const seat = seatFor(useSession(), projectId);
  if (seat === undefined || seat.role === "approver") return undefined;
  return `This needs a key with the role approver. Your key is ${seat.role}.`;
}
