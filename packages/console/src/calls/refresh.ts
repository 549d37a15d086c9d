import type { DescService } from "@bufbuild/protobuf";
import { createConnectQueryKey } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";

/** Reads again what is shown of a service, after something of it was changed. */
export function useRefresh(service: DescService): () => Promise<void> {
  const queries = useQueryClient();
  return () =>
    queries.invalidateQueries({ queryKey: createConnectQueryKey({ schema: service, cardinality: undefined }) });
}
