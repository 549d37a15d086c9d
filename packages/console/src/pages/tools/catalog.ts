import { useQuery } from "@connectrpc/connect-query";
import { CatalogService, type Toolkit } from "@svc/gen/catalog";

/** The toolkits that the project sees; empty until they are known. */
export function useToolkits(projectId: string): readonly Toolkit[] {
  return (
    useQuery(CatalogService.method.listToolkits, { projectId }, { staleTime: Number.POSITIVE_INFINITY }).data
      ?.toolkits ?? []
  );
}
