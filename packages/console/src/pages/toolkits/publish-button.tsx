import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Button } from "../../ui/buttons/button.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";

/**
 * Returns a function that says that a toolkit (the tools of one app) is published, and opens its page. Its arguments are the slug of the
 * toolkit, and the words that name it.
 */
export function useOpenPublished(projectId: string): (slug: string, name: string) => Promise<void> {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return async (slug, name) => {
    await queries.invalidateQueries();
    announce(`${name} is published.`);
    await navigate({ to: "/p/$projectId/toolkits/$toolkitSlug", params: { projectId, toolkitSlug: slug } });
  };
}

/** Draws the button that publishes a toolkit. `publish`: the state of the call. `why`: the reason why it cannot be pressed. */
export function PublishButton({
  publish,
  why,
  onPress,
}: {
  publish: { isSending: boolean; error: unknown };
  why: string | undefined;
  onPress: () => void;
}) {
  return (
    <>
      <Line>
        <Button
          kind="primary"
          icon="send"
          why={why}
          busy={publish.isSending ? "Publishing" : undefined}
          onPress={onPress}
        >
          Publish
        </Button>
      </Line>
      <FaultNotice error={publish.error} />
    </>
  );
}
