import { useQuery } from "@connectrpc/connect-query";
import { type Subscription, TriggersService } from "@svc/gen/triggers";

/**
 * Returns the subscriptions of the project (undefined until they are read), and a function that returns the address of an endpoint for a
 * subscription's id.
 */
export function useSubscriptions(): {
  subscriptions: readonly Subscription[] | undefined;
  /**
   * Returns the endpoint's address without its scheme. Returns the subscription's id if the subscription was deleted or is not read yet.
   */
  endpointOf: (subscriptionId: string) => string;
  /**
   * Error of the last attempt to read the list of subscriptions; null if that attempt succeeded. (`reload`, the next member, reads the list
   * again.)
   */
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
