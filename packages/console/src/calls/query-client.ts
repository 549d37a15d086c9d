import { Code, ConnectError } from "@connectrpc/connect";
import { QueryClient } from "@tanstack/react-query";
import { whenBack } from "../session/reachability.ts";

const repeated: readonly Code[] = [Code.Unavailable, Code.Unknown, Code.DeadlineExceeded];
const triesMax = 3;

/**
 * The cache of what the service answered. Reads that may be repeated are, twice, and what failed for all that is read when calls are
 * answered again; writes never are.
 */
export function createQueryClient(): QueryClient {
  const queries = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        gcTime: 300_000,
        retry: (failures, error) => failures < triesMax - 1 && repeated.includes(ConnectError.from(error).code),
        retryDelay: (failures) => 500 * 2 ** failures,
        // A page that cannot reach the service says so and tries on; what the browser thinks of its network does not matter.
        networkMode: "always",
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
  whenBack(() => void queries.refetchQueries({ type: "active", predicate: ({ state }) => state.status === "error" }));
  return queries;
}
