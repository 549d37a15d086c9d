import { useQuery } from "@connectrpc/connect-query";
import { IdentityService } from "@svc/gen/identity";

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
