import { CatalogService } from "@svc/gen/catalog";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useApproverWhy } from "../../calls/role.ts";
import { useWrite } from "../../calls/write.ts";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { announce } from "../../ui/notice/announce.ts";

/** Deletes a toolkit of the project's own, after it was said what that takes with it. */
export function DeleteToolkit({ projectId, slug }: { projectId: string; slug: string }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const remove = useWrite(CatalogService.method.deleteToolkit);
  const act = async () => {
    await remove.sendAsync({ slug });
    announce(`${slug} is deleted.`);
    // First away: this page would read again what is no longer there.
    await navigate({ to: "/p/$projectId/tools", params: { projectId } });
    await queries.invalidateQueries();
  };
  return (
    <ConfirmButton
      words="Delete"
      title={`Delete ${slug}?`}
      says="Its tools can no longer be called, and accounts that are connected to it are revoked. A shared toolkit of the same slug is seen again."
      confirm="Delete the toolkit"
      busy="Deleting"
      act={act}
      why={useApproverWhy(projectId)}
    />
  );
}
