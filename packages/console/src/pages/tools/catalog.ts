import { useQuery } from "@connectrpc/connect-query";
import { CatalogService, type Toolkit } from "@svc/gen/catalog";

/** Returns the toolkits (apps with their tools and webhooks) that the project can use. Empty until they are loaded. */
export function useToolkits(projectId: string): readonly Toolkit[] {
  return (
    useQuery(CatalogService.method.listToolkits, { projectId }, { staleTime: Number.POSITIVE_INFINITY }).data
      ?.toolkits ?? []
  );
}
