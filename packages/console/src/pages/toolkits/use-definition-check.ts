import { Code, ConnectError } from "@connectrpc/connect";
import { callUnaryMethod, createConnectQueryKey, useTransport } from "@connectrpc/connect-query";
import { CatalogService, type PublishToolkitResponse } from "@svc/gen/catalog";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type Fault, failureOf } from "../../calls/fault.ts";

/** What the service says of a definition: what would be published, or everything that is wrong with it. */
export type DefinitionVerdict = { published?: PublishToolkitResponse; faults: readonly Fault[] };

/**
 * Has the service check a definition, by a dry run of its publication. What is wrong with it is an answer here: what was said of the text
 * before stays until the next is there. `enabled` is false for who may not publish.
 */
export function useDefinitionCheck(definitionJson: string, enabled: boolean) {
  const transport = useTransport();
  const { publishToolkit } = CatalogService.method;
  const input = { definitionJson, dryRun: true };
  return useQuery({
    queryKey: createConnectQueryKey({ schema: publishToolkit, transport, input, cardinality: "finite" }),
    queryFn: async ({ signal }): Promise<DefinitionVerdict> => {
      try {
        return { published: await callUnaryMethod(transport, publishToolkit, input, { signal }), faults: [] };
      } catch (error) {
        const faults = failureOf(error).faults.filter(({ reason }) => reason === "DEFINITION_INVALID");
        if (ConnectError.from(error).code !== Code.InvalidArgument || faults.length === 0) throw error;
        return { faults };
      }
    },
    placeholderData: keepPreviousData,
    staleTime: 0,
    enabled,
  });
}
