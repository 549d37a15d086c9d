import { useQuery } from "@connectrpc/connect-query";
import { type Subscription, TriggersService } from "@svc/gen/triggers";

/** The subscriptions of the project, undefined until they are read, and how the address of one is found by its id. */
export function useSubscriptions(): {
  subscriptions: readonly Subscription[] | undefined;
  /** Without its scheme; the id for a subscription that was deleted or is not read yet. */
  endpointOf: (subscriptionId: string) => string;
  /** What the read failed with, null where it did not; `reload` tries it again. */
  error: unknown;
  reload: () => void;
} {
  const list = useQuery(TriggersService.method.listSubscriptions, {}, { staleTime: 30_000 });
  const known = new Map(list.data?.subscriptions.map(({ id, endpointUrl }) => [id, endpointUrl]));
  return {
    subscriptions: list.data?.subscriptions,
    endpointOf: (id) => known.get(id)?.replace(/^https?:\/\//, "") ?? id,
    error: list.error,
    reload: () => void list.refetch(),
  };
}
