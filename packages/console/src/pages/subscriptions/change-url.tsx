import { type Subscription, TriggersService } from "@svc/gen/triggers";
import { useQueryClient } from "@tanstack/react-query";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { announce } from "../../ui/notice/announce.ts";

/** Changes where a subscription's events are posted to. */
export function ChangeUrlDialog({
  subscription: { id, endpointUrl },
  onClose,
}: {
  subscription: Subscription;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  return (
    <WriteDialog
      method={TriggersService.method.updateSubscription}
      title="Change address"
      fields={{
        url: {
          text: "Endpoint",
          type: "url",
          mono: true,
          hint: "What is pending and every later event goes there. The signing secret stays.",
        },
      }}
      start={{ url: endpointUrl }}
      request={({ url }) => ({ id, endpointUrl: url.trim() })}
      keep="Leave as it is"
      act="Change address"
      onClose={onClose}
      done={async () => {
        announce("The address was changed.");
        onClose();
        await queries.invalidateQueries();
      }}
    />
  );
}
