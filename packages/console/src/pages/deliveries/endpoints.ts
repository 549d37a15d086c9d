import { useQuery } from "@connectrpc/connect-query";
import { type Subscription, TriggersService } from "@svc/gen/triggers";

/**
 * The subscriptions of the project, undefined until they are read, and a function that finds an endpoint's address by the subscription's
 * id.
 */
export function useSubscriptions(): {
  subscriptions: readonly Subscription[] | undefined;
  /** The address without its scheme. If the subscription was deleted or is not read yet, its id. */
  endpointOf: (subscriptionId: string) => string;
  /** Error of the read, null if it succeeded; `reload` retries it. */
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
