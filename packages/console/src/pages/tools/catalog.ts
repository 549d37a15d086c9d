import { useQuery } from "@connectrpc/connect-query";
import { CatalogService, type Toolkit } from "@svc/gen/catalog";
import { useDeployment } from "../../calls/identity.ts";

/** Returns the toolkits (apps with their tools and webhooks) that the project can use. Empty until they are loaded. */
export function useToolkits(projectId: string): readonly Toolkit[] {
  return (
    useQuery(CatalogService.method.listToolkits, { projectId }, { staleTime: Number.POSITIVE_INFINITY }).data
      ?.toolkits ?? []
  );
}

/** True if the sandbox emulates the app of a toolkit. False if calls reach the real app, or while the answer is not known. */
export function useIsPlayed(projectId: string, slug: string): boolean {
  const { isSandbox } = useDeployment();
  const { data } = useQuery(CatalogService.method.listToolkits, { projectId });
  if (data === undefined) return false;
  const toolkit = data.toolkits.find((one) => one.slug === slug);
  return toolkit === undefined ? isSandbox : !toolkit.live;
}
