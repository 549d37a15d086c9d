import { CatalogService } from "@svc/gen/catalog";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.ts";
import { FaultNotice } from "../../ui/notice/fault.tsx";

/** Publishes a definition for the project, and leads to its page. */
export function PublishButton({ text, projectId, why }: { text: string; projectId: string; why: string | undefined }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const publish = useWrite(CatalogService.method.publishToolkit, {
    onSuccess: async ({ toolkit }) => {
      if (toolkit === undefined) return;
      const { slug, version } = toolkit;
      await queries.invalidateQueries();
      announce(`${slug} ${version} is published.`);
      await navigate({ to: "/p/$projectId/toolkits/$toolkitSlug", params: { projectId, toolkitSlug: slug } });
    },
  });
  return (
    <>
      <Line>
        <Button
          kind="primary"
          icon="send"
          why={why}
          busy={publish.isSending ? "Publishing" : undefined}
          onPress={() => publish.send({ definitionJson: text })}
        >
          Publish
        </Button>
      </Line>
      <FaultNotice error={publish.error} />
    </>
  );
}
